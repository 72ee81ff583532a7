//! Benches of the block filter: making it, and asking it.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput};
use regex_syntax::hir::Hir;
use search::{FileFilter, FilterBuilder, Query};

use super::texts::{SIZES, text};

pub(crate) fn bench(criterion: &mut Criterion) {
    build(criterion);
    ask(criterion);
}

fn build(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("filter");
    let code = SIZES.map(|(size_name, size)| (format!("build/{size_name}"), text(size, "\n")));
    let cyrillic = ("build/cyrillic/1MB".to_owned(), "съешь ещё этих мягких булок\n".repeat(20_000));
    for (name, text) in code.into_iter().chain([cyrillic]) {
        let mut builder = FilterBuilder::default();
        let filter = FileFilter::build(text.as_bytes());
        assert!(filter.is_complete() && filter.len_bytes() == text.len() as u64);
        assert!((filter.bytes() - size_of::<FileFilter>()) * 100 <= 3 * text.len());
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                builder.push(black_box(text.as_bytes()));
                builder.finish(text.len() as u64)
            });
        });
    }
}

/// A word that no line has, in a file of 256 MB.
fn ask(criterion: &mut Criterion) {
    const PIECES: usize = 256;
    let mut group = criterion.benchmark_group("filter");
    let (piece, mut builder) = (text(1 << 20, "\n"), FilterBuilder::default());
    (0..PIECES).for_each(|_| builder.push(piece.as_bytes()));
    let filter = builder.finish((PIECES * piece.len()) as u64);
    for word in ["needle_in_a_haystack", "limit"] {
        let query = Query::of(&Hir::literal(word.as_bytes()));
        let found = filter.candidates(&query, true);
        assert_eq!(found.is_empty(), !piece.contains(word), "{word}: {found:?}");
        group.throughput(Throughput::Bytes(filter.len_bytes()));
        group.bench_function(BenchmarkId::new("ask", word), |bencher| {
            bencher.iter(|| filter.candidates(black_box(&query), true));
        });
    }
}
