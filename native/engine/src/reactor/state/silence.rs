//! How long a cradle has said nothing, and what is to be done about it.

use std::time::Duration;

/// How long a cradle, of which something was asked, has said nothing: in looks for an answer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silence {
    /// Since it has said something, or was asked.
    pub looks: u32,
    /// Since it was ordered to end all there is, whatever it has said since.
    ordered: u32,
}

/// A cradle that lives answers at once; one that is stopped, a second after it was told to go on.
pub const PATIENCE: u32 = 5;
/// From a question that every cradle answers to its end.
const ASKED: u32 = 3;
/// From its end to the end of all waiting.
pub const KILLED: u32 = 5;
/// A keeper is started, makes a sandbox and a cradle; a program is executed, perhaps from a network.
pub const START: u32 = 30;
/// With less time than that a machine that is busy could start nothing.
pub const LEAST_START: u32 = 10;
/// So long a cradle tries to end those who can't be ended, and tells of them, with some to spare.
const ENDING: u32 = 30;

/// What is to be done about a silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    Wait,
    /// Ask once more, something that every cradle answers.
    Ask,
    /// It ends, and its keeper ends what it has left.
    Kill,
    /// Go on without it.
    GiveUp,
}

impl Silence {
    pub fn look(&mut self, is_ending: bool) {
        self.looks += 1;
        self.ordered += u32::from(is_ending);
    }

    /// Of one that was ordered to end all there is.
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

    /// Of one that has not said what came of a request, for which there is so much patience.
    pub fn of_start(self, limit: u32) -> Remedy {
        match self.looks {
            looks if looks >= limit + KILLED => Remedy::GiveUp,
            looks if looks == limit => Remedy::Kill,
            _ => Remedy::Wait,
        }
    }
}

/// As many looks as take so long.
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
    fn n8_who_was_ordered_to_end_all_and_says_nothing_is_asked_killed_and_given_up() {
        let remedies = [(1, Remedy::Wait), (7, Remedy::Ask), (9, Remedy::Wait), (10, Remedy::Kill)];
        for (looks, remedy) in remedies {
            assert_eq!(after(looks, looks), remedy, "{looks}");
        }
        assert_eq!((after(14, 14), after(15, 15)), (Remedy::Wait, Remedy::GiveUp));
    }

    #[test]
    fn n8_who_answers_and_never_comes_to_an_end_is_killed_as_well() {
        assert_eq!(
            (after(1, 31), after(1, 32), after(1, 33)),
            (Remedy::Wait, Remedy::Kill, Remedy::Wait)
        );
        assert_eq!(after(1, 37), Remedy::GiveUp);
    }

    #[test]
    fn a_grace_without_end_is_one() {
        let silence = Silence { looks: 1_000_000, ordered: 1_000_000 };
        assert_eq!(silence.of_ending(Duration::MAX), Remedy::Wait);
    }

    #[test]
    fn who_does_not_say_what_came_of_a_request_is_killed_and_given_up() {
        let after = |looks| Silence { looks, ordered: 0 }.of_start(10);
        assert_eq!([after(9), after(10), after(14)], [Remedy::Wait, Remedy::Kill, Remedy::Wait]);
        assert_eq!(after(15), Remedy::GiveUp);
    }
}
