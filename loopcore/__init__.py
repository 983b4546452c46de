"""An agent loop as a pure function: `step(config, state) -> (state, effects)`.

Config is what a run is, the interpreter is who does the work, state is where it stands.
"""

from loopcore.config import LoopConfig, Nested
from loopcore.effects import (
    CallModel,
    Consult,
    Effect,
    RequestApproval,
    RunTool,
    Sleep,
)
from loopcore.events import Event, Stop, Tell
from loopcore.history import project, repair
from loopcore.inputs import (
    Abort,
    Answer,
    Approve,
    Continue,
    Edit,
    FollowUp,
    Input,
    Prompt,
    Reject,
    Respond,
    ServiceError,
    Steer,
    Withdraw,
)
from loopcore.messages import (
    AssistantMessage,
    CustomMessage,
    Image,
    Message,
    ModelError,
    SystemMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from loopcore.reducer import (
    Effects,
    Given,
    NotDone,
    RunResult,
    advance,
    deliver,
    step,
)
from loopcore.runtime.context import ToolContext
from loopcore.runtime.inspect import Inspector
from loopcore.runtime.interpreter import Interpreter, Perform
from loopcore.runtime.log import Log
from loopcore.runtime.model import Model
from loopcore.runtime.run import run, run_sync
from loopcore.runtime.stream import Stream, stream
from loopcore.runtime.tool import Tool, tool
from loopcore.settings import Settings
from loopcore.state import Rejected, State
from loopcore.tools import ToolOutput, ToolSpec

__all__ = [
    "Abort",
    "Answer",
    "Approve",
    "AssistantMessage",
    "CallModel",
    "Consult",
    "Continue",
    "CustomMessage",
    "Edit",
    "Effect",
    "Effects",
    "Event",
    "FollowUp",
    "Given",
    "Image",
    "Input",
    "Inspector",
    "Interpreter",
    "Log",
    "LoopConfig",
    "Message",
    "Model",
    "ModelError",
    "Nested",
    "NotDone",
    "Perform",
    "Prompt",
    "Reject",
    "Rejected",
    "RequestApproval",
    "Respond",
    "RunResult",
    "RunTool",
    "ServiceError",
    "Settings",
    "Sleep",
    "State",
    "Steer",
    "Stop",
    "Stream",
    "SystemMessage",
    "Tell",
    "Text",
    "Thinking",
    "Tool",
    "ToolCall",
    "ToolContext",
    "ToolOutput",
    "ToolResultMessage",
    "ToolSpec",
    "Usage",
    "UserMessage",
    "Withdraw",
    "advance",
    "deliver",
    "project",
    "repair",
    "run",
    "run_sync",
    "step",
    "stream",
    "tool",
]
