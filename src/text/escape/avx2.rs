//! The two steps of an escape with AVX2. Their speed does not depend on the text.
//!
//! No branch depends on a single byte. Eight bytes become sixteen, each behind its own backslash; one shuffle
//! from a table drops the backslashes that are not needed. Knows only one stage.
#![allow(unsafe_code)] // Calls functions for processor features that are checked at run time.

use std::arch::x86_64::*;

use bytemuck::must_cast;

use super::{Escaped, OVERRUN, STEP, Stage, chunk, chunk_mut, padding, scalar};

/// See [`super::escape`]. `None` if the processor lacks AVX2 or POPCNT.
pub(super) fn escape(stage: &Stage, len: usize, out: &mut [u8]) -> Option<Escaped> {
    // SAFETY: `supported` has checked for the features that the function needs.
    supported().then(|| unsafe { escape_avx2(stage, len, out) })
}

/// See [`super::join`]. `None` if the processor lacks AVX2 or POPCNT.
pub(super) fn join(stage: &Stage, len: usize, after_cr: bool, joined: &mut Stage) -> Option<usize> {
    // SAFETY: `supported` has checked for the features that the function needs.
    supported().then(|| unsafe { join_avx2(stage, len, after_cr, joined) })
}

fn supported() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt")
}

/// Bytes that one shuffle reads.
const LANE: usize = 8;

/// One shuffle for each subset of the bytes of a lane.
#[repr(align(64))]
struct Shuffles([[u8; 16]; 256]);

/// Selects no byte: the result is zero.
const NONE: u8 = 0x80;

/// Input: each byte behind its backslash. Output: all bytes, and the backslashes of the subset.
static ESCAPE: Shuffles = shuffles(true);

/// Input: the bytes of a lane. Output: the bytes that are not in the subset.
static DROP: Shuffles = shuffles(false);

const fn shuffles(escape: bool) -> Shuffles {
    let mut table = [[NONE; 16]; 256];
    let mut set = 0;
    while set < 256 {
        let (mut byte, mut end) = (0, 0);
        while byte < LANE {
            let in_set = set >> byte & 1 == 1;
            if escape && in_set {
                table[set][end] = 2 * byte as u8;
                end += 1;
            }
            if escape || !in_set {
                table[set][end] = if escape { 2 * byte as u8 + 1 } else { byte as u8 };
                end += 1;
            }
            byte += 1;
        }
        set += 1;
    }
    Shuffles(table)
}

impl Shuffles {
    /// The shuffle for the lowest eight bits of `set`.
    #[inline]
    fn of(&self, set: u32) -> __m128i {
        must_cast(self.0[usize::from(set as u8)])
    }
}

/// The character behind the backslash for each control character that has a short escape.
const SHORT: [u8; 16] = *b"\0\0\0\0\0\0\0\0btn\0fr\0\0";

#[target_feature(enable = "avx2,popcnt")]
fn escape_avx2(stage: &Stage, len: usize, out: &mut [u8]) -> Escaped {
    let short = _mm256_broadcastsi128_si256(must_cast(SHORT));
    let (backslash, quote) = (_mm256_set1_epi8(b'\\' as i8), _mm256_set1_epi8(b'"' as i8));
    let (last_control, lift) = (_mm256_set1_epi8(0x1F), _mm256_set1_epi8(0x70));
    let cr = _mm256_set1_epi8(b'\r' as i8);
    let mut crs = 0;
    let mut end = 0;
    for at in (0..len).step_by(STEP) {
        let bytes: __m256i = must_cast(*chunk::<STEP>(stage, at));
        crs |= _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, cr));
        let is_control = _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, last_control), bytes);
        // The addition sets the highest bit of each byte of 16 or more; the shuffle returns zero for those.
        let letter = _mm256_shuffle_epi8(short, _mm256_adds_epu8(bytes, lift));
        let has_letter = _mm256_cmpgt_epi8(letter, _mm256_setzero_si256());
        if _mm256_testc_si256(has_letter, is_control) == 0 {
            end += rare(chunk(stage, at), chunk_mut(out, end));
            continue;
        }
        let is_other = _mm256_or_si256(_mm256_cmpeq_epi8(bytes, backslash), _mm256_cmpeq_epi8(bytes, quote));
        let set = _mm256_movemask_epi8(_mm256_or_si256(is_control, is_other)) as u32;
        let told = _mm256_blendv_epi8(bytes, letter, has_letter);
        let (low, high) = (_mm256_unpacklo_epi8(backslash, told), _mm256_unpackhi_epi8(backslash, told));
        let lanes = [
            _mm256_castsi256_si128(low),
            _mm256_castsi256_si128(high),
            _mm256_extracti128_si256(low, 1),
            _mm256_extracti128_si256(high, 1),
        ];
        let room = chunk_mut::<OVERRUN>(out, end);
        put_escaped::<0>(lanes[0], set, room);
        put_escaped::<1>(lanes[1], set, room);
        put_escaped::<2>(lanes[2], set, room);
        put_escaped::<3>(lanes[3], set, room);
        end += STEP + set.count_ones() as usize;
    }
    Escaped { made: end - padding(len), has_cr: crs != 0 }
}

/// Writes a lane, each byte behind its backslash if it is in `set`. One instance a lane: a loop would not be unrolled where
/// the build is for size.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn put_escaped<const LANE_NUMBER: usize>(bytes: __m128i, set: u32, room: &mut [u8; OVERRUN]) {
    // Counts the bits before this lane, so that no lane depends on the result of another.
    let before = set & ((1 << (LANE_NUMBER * LANE)) - 1);
    let start = LANE_NUMBER * LANE + before.count_ones() as usize;
    let shuffled = _mm_shuffle_epi8(bytes, ESCAPE.of(set >> (LANE_NUMBER * LANE)));
    room[start..start + 16].copy_from_slice(&must_cast::<_, [u8; 16]>(shuffled));
}

/// Escapes a step that holds a control character without a short escape.
#[cold]
fn rare(window: &[u8; 2 * STEP], out: &mut [u8; OVERRUN]) -> usize {
    scalar::step(window, out)
}

#[target_feature(enable = "avx2,popcnt")]
fn join_avx2(stage: &Stage, len: usize, after_cr: bool, joined: &mut Stage) -> usize {
    let (cr, lf) = (_mm256_set1_epi8(b'\r' as i8), _mm256_set1_epi8(b'\n' as i8));
    let mut after_cr = u32::from(after_cr);
    let mut end = 0;
    for at in (0..len).step_by(STEP) {
        let bytes: __m256i = must_cast(*chunk::<STEP>(stage, at));
        let is_cr = _mm256_cmpeq_epi8(bytes, cr);
        let (crs, lfs) =
            (_mm256_movemask_epi8(is_cr) as u32, _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, lf)) as u32);
        let dropped = lfs & (crs << 1 | after_cr);
        after_cr = crs >> (STEP - 1);
        let told = _mm256_blendv_epi8(bytes, lf, is_cr);
        let halves = [_mm256_castsi256_si128(told), _mm256_extracti128_si256(told, 1)];
        let room = chunk_mut::<{ 2 * STEP }>(joined, end);
        for lane in 0..STEP / LANE {
            let before = dropped & ((1 << (lane * LANE)) - 1);
            let start = lane * LANE - before.count_ones() as usize;
            let half = halves[lane / 2];
            let bytes = if lane % 2 == 0 { half } else { _mm_unpackhi_epi64(half, half) };
            let shuffled = _mm_shuffle_epi8(bytes, DROP.of(dropped >> (lane * LANE)));
            room[start..start + 16].copy_from_slice(&must_cast::<_, [u8; 16]>(shuffled));
        }
        end += STEP - dropped.count_ones() as usize;
    }
    end - padding(len)
}
