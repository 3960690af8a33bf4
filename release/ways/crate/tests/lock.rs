use miniredisd_test::MiniRedisd;
use std::time::Duration;

#[test]
fn the_lock_is_free_when_its_lease_is_over() {
    let redis = MiniRedisd::start();
    let mut client = redis::Client::open(redis.url()).unwrap().get_connection().unwrap();
    let mut take = |token| redis::cmd("SET").arg(&["lock:order", token, "NX", "PX", "30000"]).query::<bool>(&mut client);
    assert!(take("token-1").unwrap());
    redis.clock().advance(Duration::from_millis(30_001));
    assert!(take("token-2").unwrap());
    redis.assert_one_holder("lock:*");
}
