"""The texts of what ``engine/cluster`` tells a person."""

from framefleet.engine.notices import Text

_START = "'ray start --head'"

TEXTS: dict[str, Text] = {
    # the address
    "cluster.ray_client": "'{address}': the Ray Client is not supported; let this machine join"
    " (ray start --address=HOST:6379 --num-cpus=0), and give HOST:6379",
    "cluster.no_address": f"'{{address}}' is not the address of a cluster: write HOST:PORT, as {_START} prints it, or auto",
    "cluster.nothing_answers": f"nothing answers at {{address}} ({{why}}): start a cluster with {_START}, or check the address",
    # the library
    "cluster.needs_ray": "a cluster needs Ray ({error}): pip install 'framefleet[cluster]', here and on every node",
    "cluster.not_usable": "the cluster at {address} cannot be used: {problem}",
    "cluster.no_answer": "the cluster does not answer: {problem}",
    "cluster.needs_token": "it refuses this machine: if it was started with a token, set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN_PATH here,"
    " too",
    "cluster.other_ray": "it runs {theirs}, and this machine {ours}: install the same on both",
    "cluster.ray_version": "Ray {ray} on Python {python}",
    "cluster.unknown_error": "unknown error",
    # devices and settings
    "cluster.no_such_node": "{device}: the cluster has no node {node}; its nodes are {nodes}",
    "cluster.no_device": "no node of the cluster has a device that can be used ({problems})",
    "cluster.within_machine": "{option} shares pictures within one machine, and a cluster shares segments: choose auto or streams",
    "cluster.thread_isolation": "{option} is for one machine: on a cluster, each device has its own process",
    "cluster.not_of_cluster": "{device} is not a device of the cluster: write NODE/{device}",
    # nodes
    "cluster.node": "node {name}: {problem}",
    "cluster.no_node": "no node of the cluster at {address} can take part: {reasons}",
    "cluster.nothing_offered": "no node offers processors or GPUs",
    "cluster.joined": "node {name} has joined",
    "cluster.left_out": "node {name} is left out: {problem}",
    "cluster.does_not_answer": "node {name} does not answer, and is left out: {problem}",
    "cluster.unreachable": "node {name} cannot be reached: {why}",
    "cluster.differs": "{differences}: install the same on both",
    "cluster.difference": "{what} is {theirs} there and {ours} here",
    "cluster.code": "the code of Framefleet",
    # why a node or its agent does not answer
    "cluster.head_has_ended": "the head of the cluster has ended",
    "cluster.node_has_ended": "the node has ended",
    "cluster.run_has_ended": "the run has ended",
    "cluster.connection_lost": "the connection was lost",
    "cluster.no_answer_within": "no answer within {seconds:.0f} s",
    "cluster.agent_has_ended": "its agent has ended",
    "cluster.agent_does_not_start": "its agent does not start: {line}",
    "cluster.agent_failed": "the agent failed: {problem}",
    "cluster.not_installed": "Framefleet is not installed there",
    "cluster.foreign_content": "the node asked for {path}, which does not belong to the run",
    # the process that is connected to the cluster
    "cluster.process": "the process that is connected to the cluster",
    "cluster.process_not_started": "the process for the cluster cannot be started: {error}",
    "cluster.connection_has_ended": "the connection to the cluster has ended",
    "cluster.connection_has_ended_because": "the connection to the cluster has ended: {problem}",
    # files on the nodes
    "cluster.model_unreadable": "the model cannot be read: {error}",
    "cluster.not_stored": "{path} cannot be stored there: {problem}",
    "cluster.changed_while_sent": "{path} changed while it was sent: detect in it again when it is complete",
    "cluster.no_space": "{size:.1f} GB do not fit into {folder}",
    "cluster.damaged_on_the_way": "{name} did not arrive as it was sent",
    "cluster.vanished": "{path} vanished from the cache of this node",
    "cluster.not_found": "{path}: {problem}",
    "cluster.other_model": "this node has another {path}: copy the model to it, or remove the file there, and it is sent",
    "cluster.folder_of_other_user": "{folder} belongs to another user: set TMPDIR to another folder before 'ray start'",
    "cluster.folder_not_made": "{folder} cannot be made: {problem}; set TMPDIR to another folder before 'ray start'",
    "cluster.cancelled": "it was cancelled",
}
