# today.py
from pathlib import Path

from loopcore import Interpreter, LoopConfig, run_sync, tool

from app import model

@tool(needs_approval=True)
def transfer(to: str, cents: int) -> str:
    """Send money to an account."""
    return f"sent {cents} cents to {to}"

config = LoopConfig(model=model, tools=[transfer])
interpreter = Interpreter(model, transfer)                  # no approve=: nobody here can say yes

if __name__ == "__main__":
    result = run_sync(config, interpreter, "Pay invoice 1812: 49.00 to ACME", run_id="invoice-1812")
    print(result)                                           # paused: transfer(to='ACME', cents=4900) needs approval
    Path("invoice-1812.json").write_bytes(result.state.dumps())
