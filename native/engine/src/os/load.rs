//! Whether the machine has a processor that nobody uses.

use std::fs::File;
use std::io::Read;
use std::sync::OnceLock;
use std::thread;

/// Returns whether fewer threads run, on the whole machine, than there are processors for this process.
/// False: more, or that can't be seen.
pub fn has_idle_processor() -> bool {
    let mut text = [0; 128];
    // Not kept open: who starts no burst holds no descriptor for it.
    let read = File::open("/proc/loadavg").and_then(|mut file| file.read(&mut text));
    let running = read.ok().and_then(|length| text.get(..length)).and_then(running);
    // The calling thread is one of those that run.
    running.is_some_and(|running| running.saturating_sub(1) < processors())
}

/// Returns how many processors this process may use.
pub fn processors() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| thread::available_parallelism().map_or(1, usize::from))
}

/// Reads the count of running threads out of `/proc/loadavg`.
fn running(text: &[u8]) -> Option<usize> {
    let text = str::from_utf8(text).ok()?;
    text.split(' ').nth(3)?.split('/').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{processors, running};

    #[test]
    fn the_count_of_running_threads_is_read() {
        assert_eq!(running(b"0.20 0.18 0.12 1/80 11206\n"), Some(1));
        assert_eq!(running(b"10.20 0.18 0.12 117/8011 11206\n"), Some(117));
        for text in ["", "0.20 0.18 0.12", "0.20 0.18 0.12 x/80 1", "0.20 0.18 0.12 /80 1"] {
            assert_eq!(running(text.as_bytes()), None, "{text}");
        }
        assert!(processors() > 0);
    }
}
