use proptest::prelude::*;

use super::*;
use crate::channel::Status;

fn member(pid: i32, command: Option<Vec<u8>>) -> Member {
    Member { pid, group: pid, command }
}

fn end(value: u64, commands: Vec<Option<Vec<u8>>>) -> TaskEnd {
    TaskEnd {
        status: Status::Exited(3),
        cause: EndCause::TimedOut,
        reason: "lock pid=7".into(),
        forced: value.is_multiple_of(2),
        user: value,
        system: 1,
        peak: 2,
        wall: 3,
        at: 4,
        output: 5,
        cut: 6,
        sandbox: "write=namespace socket=40".into(),
        more_denied: 7,
        unheard: value.is_multiple_of(3),
        alone: value.is_multiple_of(5),
        share: value as i32,
        total_left: commands.len() as u64,
        left: commands.into_iter().map(|command| member(9, command)).collect(),
    }
}

fn state(stage: Stage) -> TaskState {
    let process = ProcessIdentity { pid: 7, started: u64::MAX };
    TaskState { boot: b"a-b-c".to_vec(), keeper: process, leader: process, started: 8, stage }
}

proptest! {
    #[test]
    fn a_state_is_read_as_it_was_written(value: u64, commands: Vec<Option<Vec<u8>>>) {
        let end = end(value, commands);
        for stage in [Stage::Left(end.clone()), Stage::Ended { end, gone: value }, Stage::Running] {
            let state = state(stage);
            prop_assert_eq!(TaskState::decode(&state.encode()), Some(state));
        }
    }

    #[test]
    fn a_state_that_is_torn_is_none(value: u64, commands: Vec<Option<Vec<u8>>>, at: prop::sample::Index) {
        let whole = state(Stage::Ended { end: end(value, commands), gone: 1 }).encode();
        let torn = &whole[..at.index(whole.len())];
        // A record that is cut between two of the members that were left reads as if it were complete.
        let is_none_or_shorter = TaskState::decode(torn).is_none_or(|read| read.encode() == torn);
        prop_assert!(is_none_or_shorter);
    }

    #[test]
    fn other_bytes_do_no_harm(bytes: Vec<u8>, longest in 0_usize..100) {
        let _ = (TaskState::decode(&bytes), TaskCall::decode(&bytes), TaskAnswer::decode(&bytes));
        if let Next::Message(message, rest) = next_message(&bytes, longest) {
            prop_assert_eq!(message.len() + rest.len() + 4, bytes.len());
        }
    }

    #[test]
    fn a_call_comes_out_of_a_stream_as_it_went_in(number: u64, bytes: Vec<u8>, signal: i32, rest: Vec<u8>) {
        let calls = [
            TaskCall::Who,
            TaskCall::Write(bytes),
            TaskCall::CloseInput,
            TaskCall::Signal(signal),
            TaskCall::End(u64::MAX),
            TaskCall::Look,
            TaskCall::Resize { size: TerminalSize { columns: 65535, rows: 1 }, redraw: true },
            TaskCall::Follow { since: number, live: false },
        ];
        for call in calls {
            let stream = [call.encode(number), rest.clone()].concat();
            let Next::Message(message, after) = next_message(&stream, LONGEST_CALL) else {
                return Err(TestCaseError::fail("no message"));
            };
            prop_assert_eq!(TaskCall::decode(message), Some((number, call)));
            prop_assert_eq!(after, &rest[..]);
        }
    }
}

#[test]
fn an_answer_arrives_as_it_was_sent() {
    let answers = [
        TaskAnswer::State(state(Stage::Running)),
        TaskAnswer::Members {
            members: vec![member(1, None), member(2, Some(b"x".to_vec()))],
            total: 3,
        },
        TaskAnswer::Written(libc::EPIPE),
        TaskAnswer::Done,
        TaskAnswer::Signalled(true),
        TaskAnswer::Over(false),
        TaskAnswer::Terminal(TerminalView { echoes: true, ..TerminalView::default() }),
        TaskAnswer::Output(Stretch { from: 9, modes: b"\x1b[?1h".to_vec(), bytes: b"x".to_vec() }),
        TaskAnswer::Resized(TerminalSize { columns: 80, rows: 24 }),
    ];
    for answer in answers {
        let message = answer.encode(5);
        assert_eq!(TaskAnswer::decode(&message[4..]), Some((5, answer)));
    }
}

#[test]
fn unfinished_and_too_long_messages_are_told_from_others() {
    let stream = TaskCall::Who.encode(1);
    for length in 0..stream.len() {
        assert_eq!(next_message(&stream[..length], 100), Next::Unfinished);
    }
    assert_eq!(next_message(&stream, 15), Next::TooLong);
}

#[test]
fn a_record_of_many_members_keeps_to_its_length() {
    let many = vec![Some(vec![b'x'; 200]); 100];
    let state = state(Stage::Left(end(1, many)));
    let record = state.encode_within(4096);
    assert!(record.len() <= 4096 && record.len() > 3000);
    let Some(TaskState { stage: Stage::Left(end), .. }) = TaskState::decode(&record) else {
        panic!("no record");
    };
    assert!(end.left.len() < 100 && end.total_left == 100);
}

#[test]
fn a_record_of_another_version_is_none() {
    let mut record = state(Stage::Running).encode();
    record[0] += 1;
    assert_eq!(TaskState::decode(&record), None);
}
