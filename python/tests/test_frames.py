import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkline.frames import Frame, FrameKind, FrameParser, ProtocolFault, encode_frame

frames = st.lists(
    st.builds(
        Frame,
        kind=st.sampled_from(FrameKind),
        more=st.booleans(),
        call=st.integers(0, 2**32 - 1),
        payload=st.binary(max_size=300),
    ),
    max_size=8,
)


@given(frames, st.lists(st.integers(1, 40), min_size=1))
def test_frames_survive_any_cut(sent: list[Frame], cuts: list[int]) -> None:
    data = b"".join(encode_frame(frame) for frame in sent)
    parser, got, at = FrameParser(), list[Frame](), 0
    for step in range(len(data)):
        if at >= len(data):
            break
        size = cuts[step % len(cuts)]
        got += parser.push(data[at : at + size])
        at += size
    assert got == sent


@given(st.binary(min_size=10, max_size=200))
def test_what_is_no_frame_is_a_fault_and_nothing_else(data: bytes) -> None:
    try:
        again = b"".join(encode_frame(frame) for frame in FrameParser().push(data))
    except ProtocolFault:
        return
    assert data.startswith(again)


def test_names_the_bytes_that_are_no_frame() -> None:
    with pytest.raises(ProtocolFault, match="expected a frame, got 000000000900"):
        FrameParser().push(bytes.fromhex("00000000090000000000"))
