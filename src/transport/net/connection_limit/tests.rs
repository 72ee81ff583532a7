//! Which connection gives way to another one.

use std::net::Ipv4Addr;

use super::*;
use sys::process::open_file_limit;

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

#[test]
fn two_of_three_descriptors_are_for_files() {
    let connections = max_connections();
    assert!(connections as u64 <= open_file_limit() / 3 && connections <= MAX_CONNECTIONS);
}

/// `count` places of a peer, each a little older than the next.
fn places(limit: &Arc<ConnectionLimit>, peer: IpAddr, count: usize) -> Vec<Place> {
    let place = |_| {
        let place = limit.free_place(peer).unwrap();
        age(&place, Duration::from_millis(limit.lock().next));
        place
    };
    (0..count).map(place).collect()
}

/// Makes the state and the stall of a connection begin at this time, counted from the far past.
fn age(place: &Place, since: Duration) {
    place.activity.change(|state| State { since: since.as_millis() as u64, ..state }).unwrap();
    place.activity.stalled_since.store(since.as_millis() as u64, Ordering::Relaxed);
}

/// Times are compared with the age of the process, which may be less than those.
fn be_old() {
    while now() < LONG_WORK.as_millis() as u64 {
        std::thread::yield_now();
    }
}

fn serve(place: &Place) {
    drop(place.activity.work());
    place.activity.accept().unwrap();
    age(place, Duration::ZERO);
}

fn closing(places: &[Place]) -> Vec<usize> {
    (0..places.len()).filter(|n| places[*n].activity.state().closing).collect()
}

#[test]
fn a_crowd_of_newcomers_is_closed_before_connections_that_were_served() {
    let limit = ConnectionLimit::new(8);
    let places = places(&limit, HERE, 8);
    places[..4].iter().for_each(serve);
    be_old();
    assert!(limit.free_place(HERE).is_none());
    limit.close_one();
    limit.close_one();
    assert_eq!(closing(&places), [4], "the oldest newcomer, and one at a time");
    assert!(places[4].activity.enter(Phase::Body).is_err());
}

#[test]
fn a_newcomer_has_time_for_its_first_request_and_no_other_is_closed_for_a_crowd_of_newcomers() {
    let limit = ConnectionLimit::new(4);
    let places = places(&limit, HERE, 4);
    be_old();
    places[..2].iter().for_each(serve);
    places[2..].iter().for_each(|place| age(place, Duration::from_millis(now())));
    limit.close_one();
    assert!(closing(&places).is_empty());
    age(&places[2], Duration::ZERO);
    limit.close_one();
    assert_eq!(closing(&places), [2]);
}

#[test]
fn requests_that_are_refused_again_and_again_keep_no_place() {
    let limit = ConnectionLimit::new(1);
    let places = places(&limit, HERE, 1);
    let refuse = || drop(places[0].activity.work());
    (0..3).for_each(|_| refuse());
    limit.close_one();
    assert_eq!(closing(&places), [0], "the time for a first request does not begin anew");
    refuse();
    assert_eq!(closing(&places), [0], "one more does not keep it");
}

#[test]
fn a_connection_whose_request_comes_when_it_is_to_be_closed_is_served() {
    let limit = ConnectionLimit::new(1);
    let places = places(&limit, HERE, 1);
    be_old();
    limit.close_one();
    assert_eq!(closing(&places), [0]);
    let _at_work = places[0].activity.work();
    assert!(closing(&places).is_empty() && places[0].activity.enter(Phase::Body).is_ok());
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let closed = runtime.block_on(async { timeout(LONG_WORK, places[0].activity.closed()).await });
    assert!(closed.is_err(), "what was told before is over");
}

#[test]
fn the_longest_idle_goes_then_one_that_does_not_read_then_one_at_work_then_newcomers_if_few() {
    let limit = ConnectionLimit::new(8);
    let mut places = places(&limit, HERE, 8);
    places[..6].iter().for_each(serve);
    let _at_work = places[0].activity.work();
    places[1].activity.wrote(false);
    age(&places[1], Duration::ZERO);
    age(&places[5], Duration::from_millis(1));
    age(&places[3], Duration::from_millis(2));
    places[4].activity.enter(Phase::Body).unwrap();
    age(&places[4], Duration::from_millis(3));
    age(&places[0], Duration::ZERO);
    be_old();
    let numbers: Vec<u64> = places.iter().map(|place| place.number).collect();
    let mut order = Vec::new();
    while !limit.lock().connections.is_empty() {
        limit.close_one();
        let Some(first) = closing(&places).first().copied() else { break };
        order.push(places[first].number);
        places.remove(first);
    }
    let wanted = [2, 5, 3, 4, 1, 0, 6, 7].map(|n| numbers[n]);
    assert_eq!(order, wanted);
}

#[test]
fn one_whose_client_reads_little_by_little_is_at_work_for_long() {
    let limit = ConnectionLimit::new(1);
    let places = places(&limit, HERE, 1);
    places[0].activity.accept().unwrap();
    let _at_work = places[0].activity.work();
    age(&places[0], Duration::ZERO);
    be_old();
    for progress in [false, true, false] {
        places[0].activity.wrote(progress);
    }
    limit.close_one();
    assert_eq!(closing(&places), [0]);
}

#[test]
fn the_peer_with_the_most_connections_gives_way() {
    let limit = ConnectionLimit::new(8);
    let other = |n: u8| IpAddr::V4(Ipv4Addr::new(10, 0, 0, n));
    let mut all = places(&limit, other(1), 1);
    all.extend(places(&limit, other(2), 6));
    all.extend(places(&limit, other(3), 1));
    limit.close_one();
    assert_eq!(closing(&all), [1]);
}

#[test]
fn a_further_connection_gets_its_place_when_another_has_ended() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let limit = ConnectionLimit::new(1);
        let first = limit.place(HERE).await;
        let activity = first.activity.clone();
        let holder = tokio::spawn(async move {
            activity.closed().await;
            drop(first);
        });
        let _second = limit.place(HERE).await;
        holder.await.unwrap();
        assert!(!limit.close_slow_body());
    });
}
