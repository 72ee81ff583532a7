//! Limits the requests of a connection by a token bucket (`--rate-limit`). Knows no protocol.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A rate of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Requests per second, on average.
    pub per_second: u32,
    /// Requests at once, after a pause.
    pub burst: u32,
}

/// The rate limit of one connection, if any.
#[derive(Debug, Clone)]
pub struct RateLimit(Option<Arc<Mutex<TokenBucket>>>);

impl RateLimit {
    /// The limit for a new connection.
    pub fn new(rate: Option<Rate>) -> RateLimit {
        RateLimit(rate.map(|rate| Arc::new(Mutex::new(TokenBucket::new(rate)))))
    }

    /// Takes one token, or returns the time until the next one.
    pub fn take(&self) -> Result<(), Duration> {
        let Some(bucket) = &self.0 else { return Ok(()) };
        bucket.lock().unwrap_or_else(PoisonError::into_inner).take_at(Instant::now())
    }
}

/// The token bucket of one connection.
#[derive(Debug)]
struct TokenBucket {
    rate: Rate,
    tokens: f64,
    filled: Instant,
}

impl TokenBucket {
    /// A full bucket.
    fn new(rate: Rate) -> TokenBucket {
        TokenBucket { rate, tokens: rate.burst.into(), filled: Instant::now() }
    }

    fn take_at(&mut self, now: Instant) -> Result<(), Duration> {
        let per_second = f64::from(self.rate.per_second);
        let filled = (now - self.filled).as_secs_f64() * per_second;
        let most = if switches::is_off("rate-fill") { f64::INFINITY } else { self.rate.burst.into() };
        self.tokens = (self.tokens + filled).min(most);
        self.filled = now;
        if self.tokens < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - self.tokens) / per_second));
        }
        self.tokens -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_goes_through_and_then_the_rate_holds() {
        let mut bucket = TokenBucket::new(Rate { per_second: 10, burst: 3 });
        let start = bucket.filled;
        for _ in 0..3 {
            assert!(bucket.take_at(start).is_ok());
        }
        let wait = bucket.take_at(start).unwrap_err();
        assert_eq!(wait, Duration::from_millis(100));
        assert!(bucket.take_at(start + wait / 2).is_err());
        assert!(bucket.take_at(start + wait + Duration::from_millis(1)).is_ok());
        let later = start + Duration::from_secs(60);
        assert_eq!((0..9).filter(|_| bucket.take_at(later).is_ok()).count(), 3);
    }
}
