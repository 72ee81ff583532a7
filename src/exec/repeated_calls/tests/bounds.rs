//! How long replies are kept, and how much memory they and their keys may take.

use tokio::time::advance;

use super::super::*;
use super::{KEY, Server, reply, text};
use crate::tools::{Members, Reply};

fn kept(bytes: usize) -> Arc<KeptReply> {
    let (text, data, metadata) = ("x".repeat(bytes), Members::default(), None);
    Arc::new(KeptReply::Replied(Box::new(Reply { text, data, metadata, ..Reply::default() })))
}

fn paused(test: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_time().start_paused(true).build().unwrap().block_on(test);
}

/// Claims a key, and keeps a reply of this length. False if a reply was there.
async fn fill(calls: &RepeatedCalls, key: &str, bytes: usize) -> bool {
    match calls.claim(key, 1).await {
        Claim::First(first) => {
            first.keep(kept(bytes));
            true
        }
        Claim::Known(_) => false,
    }
}

/// The number of keys, and the bytes of replies.
fn size(calls: &RepeatedCalls) -> (usize, usize) {
    let state = calls.lock();
    (state.by_key.len(), state.bytes)
}

#[test]
fn a_reply_is_kept_for_ten_minutes() {
    paused(async {
        let calls = RepeatedCalls::default();
        assert!(fill(&calls, "a", 10).await);
        advance(KEPT_FOR).await;
        assert!(!fill(&calls, "a", 10).await);
        advance(Duration::from_millis(1)).await;
        calls.forget_old();
        assert_eq!((size(&calls), calls.lock().done.len()), ((0, 0), 0));
        assert!(fill(&calls, "a", 10).await);
    });
}

/// What a call with this key and a short reply gets.
async fn again(calls: &RepeatedCalls, key: &str) -> Arc<KeptReply> {
    match calls.claim(key, 1).await {
        Claim::First(_) => panic!("{key} is carried out again"),
        Claim::Known(reply) => reply,
    }
}

#[test]
fn when_replies_take_too_much_memory_the_oldest_lose_their_text_but_no_call_is_carried_out_again() {
    paused(async {
        let calls = RepeatedCalls::default();
        let reply = BYTES / 4 - size_of::<Reply>();
        for key in 0..6 {
            assert!(fill(&calls, &key.to_string(), reply).await);
        }
        assert_eq!(size(&calls), (6, BYTES));
        for (key, has_text) in [("0", false), ("1", false), ("2", true), ("5", true)] {
            let again = again(&calls, key).await;
            assert_eq!(matches!(*again, KeptReply::Replied(_)), has_text, "{key}");
            assert_eq!(matches!(*again, KeptReply::Forgotten(true)), !has_text, "{key}");
        }
        // One that is too large alone takes nothing from the others.
        assert!(fill(&calls, "too large", BYTES).await);
        assert_eq!(size(&calls), (7, BYTES));
        assert!(matches!(*again(&calls, "too large").await, KeptReply::Forgotten(true)));
        advance(KEPT_FOR + Duration::from_millis(1)).await;
        calls.forget_old();
        assert_eq!(size(&calls), (0, 0));
    });
}

#[test]
fn of_a_call_whose_reply_is_forgotten_the_answer_says_that_it_was_carried_out() {
    let server = Server::new();
    let long = |id| server.call(Some(id), KEY, |_, _| Ok(Reply { text: "x".repeat(BYTES), ..reply(1) }));
    assert_eq!(text(&server.run(long("1")).unwrap()).len(), BYTES);
    let again = server.run(long("2")).unwrap();
    assert_eq!(again["result"]["isError"], true);
    assert!(text(&again).contains("was carried out before, with success"), "{again}");
    assert_eq!(server.runs(), 1);
}

#[test]
fn keys_are_bounded_and_a_new_one_is_refused_until_the_oldest_is_ten_minutes_old() {
    paused(async {
        let calls = RepeatedCalls::default();
        assert!(fill(&calls, "first", 10).await);
        advance(Duration::from_secs(1)).await;
        let running = calls.claim("running", 1).await;
        for n in 2..KEYS {
            assert!(fill(&calls, &n.to_string(), 10).await);
        }
        let KeptReply::Failed(refused) = &*again(&calls, "one more").await else { panic!("not refused") };
        assert!(format!("{refused:?}").contains("nothing was changed"), "{refused:?}");
        again(&calls, "first").await;
        advance(KEPT_FOR).await;
        assert!(fill(&calls, "one more", 10).await);
        assert_eq!(calls.lock().by_key.len(), KEYS);
        drop(running);
    });
}
