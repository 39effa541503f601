"""The words by which home-grown files call things, likeliest first; compared without case and marks."""

from __future__ import annotations

TOOL = (
    *("toolname", "tool", "toolused", "calledtool", "functionname", "function", "fnname", "fn", "toolid"),
    *(
        "actionname",
        "skillname",
        "skill",
        "pluginname",
        "plugin",
        "apiname",
        "operation",
        "endpoint",
        "method",
    ),
    *("action", "command", "capability", "herramienta", "outil", "werkzeug", "step", "stepname", "name"),
)
ARGUMENTS = (
    *(
        "arguments",
        "args",
        "toolargs",
        "toolarguments",
        "toolinput",
        "toolinputs",
        "toolparams",
        "functionargs",
    ),
    *("functionarguments", "parameters", "params", "kwargs", "actioninput", "inputargs", "input", "inputs"),
    *("payload", "request", "requestbody", "callargs", "argumentos", "parametros", "query"),
)
RESULT = (
    *("result", "toolresult", "tooloutput", "toolresponse", "output", "outputs", "response", "observation"),
    *("returnvalue", "returned", "results", "resultado", "responsebody", "content", "summary", "preview"),
    *("resultpreview", "outputpreview", "resultsummary", "answer", "data"),
)
ERROR = (
    *("error", "errormessage", "errormsg", "errortext", "exception", "err", "errordetail", "errordetails"),
    *("failurereason", "traceback", "exceptionmessage", "errors", "failure"),
)
ERROR_KIND = ("errortype", "errorkind", "errorcode", "exceptiontype", "errorclass", "errorname")
GOOD_FLAG = ("success", "ok", "succeeded", "successful", "issuccess", "wassuccessful", "toolsuccess")
BAD_FLAG = ("iserror", "haserror", "failed", "isfailure", "errored", "error", "erroroccurred", "haserrors")
STATUS = ("status", "outcome", "state", "resultstatus", "toolstatus", "statustext", "callstatus", "estado")
EXIT_CODE = ("exitcode", "returncode", "exitstatus")
FAILING = (
    *("error", "errored", "failed", "failure", "fail", "exception", "timeout", "timedout", "crashed", "ko"),
    *("aborted", "rejected", "invalid"),
)
STARTED = (
    *("startedat", "starttime", "startts", "starttimestamp", "start", "started", "timestamp", "createdat"),
    *(
        "time",
        "ts",
        "datetime",
        "calledat",
        "eventtime",
        "loggedat",
        "created",
        "date",
        "at",
        "when",
        "timeutc",
    ),
    *("timestamputc", "timestampms", "epoch", "epochms", "fecha", "occurredat", "invokedat"),
)
ENDED = (
    *(
        "endedat",
        "endtime",
        "endts",
        "endtimestamp",
        "end",
        "ended",
        "finishedat",
        "finishtime",
        "completedat",
    ),
    *("stoppedat", "finished", "completed"),
)
LATENCY = (
    *("durationms", "latencyms", "elapsedms", "tookms", "responsetimems", "executiontimems", "runtimems"),
    *("duration", "latency", "elapsed", "elapsedseconds", "durationseconds", "latencyseconds", "durations"),
    *("latencys", "elapseds", "executiontime", "executiontimes", "responsetime", "runtime", "took", "timems"),
    *("durationsec", "elapsedsec", "latencysec", "durationus", "durationns", "elapsedtime", "runtimeseconds"),
    *(
        "tooks",
        "tookseconds",
        "executiontimeseconds",
        "executiontimesec",
        "timetaken",
        "durationmillis",
        "latencymillis",
        "processingtime",
        "ms",
        "millis",
        "milliseconds",
        "seconds",
        "secs",
    ),
)
UNITS = (
    ("milliseconds", "ms"), ("millis", "ms"), ("msec", "ms"), ("ms", "ms"), ("microseconds", "us"),
    ("micros", "us"), ("us", "us"), ("nanoseconds", "ns"), ("nanos", "ns"), ("ns", "ns"), ("seconds", "s"),
    ("secs", "s"), ("sec", "s"), ("minutes", "min"), ("min", "min"),
)  # fmt: skip  # how a name ends, and the unit that says
CONVERSATION = (
    *("conversationid", "conversation", "convid", "convoid", "sessionid", "session", "threadid", "thread"),
    *(
        "chatid",
        "dialogid",
        "dialogueid",
        "simulationid",
        "missionid",
        "runid",
        "traceid",
        "rolloutid",
        "episodeid",
        "taskid",
    ),
    *(
        "jobid",
        "workflowid",
        "ticketid",
        "caseid",
        "interactionid",
        "simulationid",
        "requestid",
        "correlationid",
    ),
    *("contextid", "exampleid", "sampleid"),
)
TRIAL = ("trial", "attempt", "epoch", "runnumber", "seed", "repeat")
CALL_ID = (
    "toolcallid",
    "callid",
    "tooluseid",
    "invocationid",
    "toolinvocationid",
    "spanid",
    "stepid",
    "operationid",
)
OWN_ID = ("id", "uuid", "eventid", "recordid", "rowid", "logid", "uid", "key")
TURN = ("turn", "turnindex", "turnnumber", "turnid", "turnno", "messageindex", "turnidx")
CYCLE = (
    *("round", "cycle", "iteration", "iter", "stepindex", "stepnumber", "stepno", "stepidx", "loop", "step"),
    *("roundnumber", "cycleindex", "hop", "roundindex"),
)
MODEL = ("model", "modelname", "modelid", "llm", "llmmodel", "engine", "modelversion", "modelo")
SOURCE = (
    "source",
    "strategy",
    "agent",
    "agentname",
    "agentid",
    "app",
    "bot",
    "botname",
    "flow",
    "workflow",
    "pipeline",
)
SERVER = ("mcpserver", "toolserver", "servername", "server", "toolset", "toolprovider")
LABEL = (
    *("label", "humanlabel", "verdict", "annotation", "judgement", "judgment", "grade", "rating", "review"),
    *(
        "evaluation",
        "failuremode",
        "errorcategory",
        "axialcode",
        "category",
        "thumbs",
        "correctness",
        "iscorrect",
    ),
)
SCORE = ("score", "reward", "humanscore", "ratingscore", "stars")
NOTE = (
    "note",
    "notes",
    "comment",
    "comments",
    "explanation",
    "rationale",
    "reviewnote",
    "feedback",
    "remarks",
)
AUTHOR = (
    "reviewer",
    "annotator",
    "labeler",
    "labeller",
    "author",
    "reviewedby",
    "annotatedby",
    "rater",
    "judge",
)
EXPECTED_TOOL = ("expectedtool", "correcttool", "expectedtoolname", "goldtool", "shouldhavecalled")
ASKED = (
    *(
        "query",
        "question",
        "userquery",
        "usermessage",
        "userinput",
        "prompt",
        "userprompt",
        "request",
        "input",
    ),
    *("ask", "pregunta", "mensaje", "utterance", "consulta", "usertext", "user"),
)
ANSWERED = (
    *("answer", "response", "respuesta", "reply", "finalresponse", "finalanswer", "output", "completion"),
    *("assistantmessage", "assistantresponse", "botresponse", "agentresponse", "assistant", "bot", "message"),
)
ROLE = ("role", "speaker", "sender", "from", "author", "type")
SAID = ("content", "text", "message", "value", "body")
KIND = (
    *("type", "event", "eventtype", "recordtype", "kind", "eventname", "event", "msgtype", "phase", "stage"),
    *("messagetype", "logtype", "action"),
)
STARTS = (
    "started",
    "start",
    "begin",
    "began",
    "call",
    "called",
    "calling",
    "request",
    "requested",
    "invoked",
    "invoke",
)
ENDS = (
    *(
        "succeeded",
        "success",
        "end",
        "ended",
        "finished",
        "finish",
        "completed",
        "complete",
        "result",
        "response",
    ),
    *("done", "returned", "output", "stopped", "stop"),
)
FAILS = (
    "failed",
    "failure",
    "fail",
    "error",
    "errored",
    "exception",
    "timeout",
    "timedout",
    "crashed",
    "aborted",
)
