from forkline import Options
from forkline.blocking import connect


def test_runs_and_streams_without_asyncio() -> None:
    with connect() as connection:
        assert connection.run("echo hi", Options(timeout_ms=5000)).output == "hi\n"
        process = connection.spawn("cat", has_input=True)
        process.write(b"to cat\n")
        process.close_input()
        assert b"".join(piece.data for piece in process.outputs()) == b"to cat\n"
        assert process.wait().exit_code == 0
        endless = connection.spawn("sleep 1000")
        endless.end()
        assert endless.wait().cause == "cancelled"
