//! The silence of a cradle, and its remedies.

use std::time::Duration;

/// The time for which a cradle has not answered, counted in looks for an answer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silence {
    /// Looks since its last answer, or since it was asked.
    pub looks: u32,
    /// Looks since it was ordered to end all members, whatever it has answered since.
    ordered: u32,
}

/// The number of looks after which a cradle is asked again. A live one answers at once, and one that was
/// stopped does so a second after it was continued.
pub const PATIENCE: u32 = 5;
/// The number of looks from that question to the cradle's SIGKILL.
const ASKED: u32 = 3;
/// The number of looks from the SIGKILL to the end of all waiting.
pub const KILLED: u32 = 5;
/// The number of looks for a start: a keeper is started, makes a sandbox and a cradle; a program is executed,
/// perhaps from a network.
pub const START: u32 = 30;
/// The least number of looks for a start; with fewer, a busy machine could start nothing.
pub const LEAST_START: u32 = 10;
/// The number of looks for which a cradle tries to end processes that can't be ended, and reports them, with
/// some to spare.
const ENDING: u32 = 30;

/// The remedy for a silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    Wait,
    /// Ask for a sign of life, which every cradle can give.
    Ask,
    /// Kill the cradle; its keeper then ends the processes left.
    Kill,
    /// Go on without the cradle.
    GiveUp,
}

impl Silence {
    pub fn look(&mut self, is_ending: bool) {
        self.looks += 1;
        self.ordered += u32::from(is_ending);
    }

    /// Returns the remedy for a cradle that was ordered to end all members.
    pub fn of_ending(self, grace: Duration) -> Remedy {
        let (limit, last) = (looks(grace) + PATIENCE, looks(grace) + ENDING);
        match (self.looks, self.ordered) {
            (_, ordered) if ordered >= last + KILLED => Remedy::GiveUp,
            (looks, _) if looks >= limit + ASKED + KILLED => Remedy::GiveUp,
            (looks, ordered) if looks == limit + ASKED || ordered == last => Remedy::Kill,
            (looks, _) if looks == limit => Remedy::Ask,
            _ => Remedy::Wait,
        }
    }

    /// Returns the remedy for a cradle that has not answered a request. `limit`: the number of looks that are
    /// allowed.
    pub fn of_start(self, limit: u32) -> Remedy {
        match self.looks {
            looks if looks >= limit + KILLED => Remedy::GiveUp,
            looks if looks == limit => Remedy::Kill,
            _ => Remedy::Wait,
        }
    }
}

/// Returns the number of looks that take so long.
pub fn looks(time: Duration) -> u32 {
    u32::try_from(time.as_millis().div_ceil(1000))
        .map_or(u32::MAX / 4, |looks| looks.min(u32::MAX / 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(looks: u32, ordered: u32) -> Remedy {
        Silence { looks, ordered }.of_ending(Duration::from_millis(1500))
    }

    #[test]
    fn n8_a_silent_cradle_that_was_ordered_to_end_is_asked_then_killed_then_given_up() {
        let remedies = [(1, Remedy::Wait), (7, Remedy::Ask), (9, Remedy::Wait), (10, Remedy::Kill)];
        for (looks, remedy) in remedies {
            assert_eq!(after(looks, looks), remedy, "{looks}");
        }
        assert_eq!((after(14, 14), after(15, 15)), (Remedy::Wait, Remedy::GiveUp));
    }

    #[test]
    fn n8_a_cradle_that_answers_but_never_ends_is_killed_too() {
        assert_eq!(
            (after(1, 31), after(1, 32), after(1, 33)),
            (Remedy::Wait, Remedy::Kill, Remedy::Wait)
        );
        assert_eq!(after(1, 37), Remedy::GiveUp);
    }

    #[test]
    fn an_infinite_grace_never_ends() {
        let silence = Silence { looks: 1_000_000, ordered: 1_000_000 };
        assert_eq!(silence.of_ending(Duration::MAX), Remedy::Wait);
    }

    #[test]
    fn a_cradle_that_does_not_answer_a_request_is_killed_then_given_up() {
        let after = |looks| Silence { looks, ordered: 0 }.of_start(10);
        assert_eq!([after(9), after(10), after(14)], [Remedy::Wait, Remedy::Kill, Remedy::Wait]);
        assert_eq!(after(15), Remedy::GiveUp);
    }
}
