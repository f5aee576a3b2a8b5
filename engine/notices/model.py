"""The texts of what ``engine/model`` tells a person."""

from framefleet.engine.notices import Text

_EXPORT = "export it as ONNX in the program that it was trained with, such as 'yolo export model=M.pt format=onnx'"

TEXTS: dict[str, Text] = {
    # files
    "model.changed_while_read": "{path} changed while it was being read: try again",
    "model.folder": "{path} is a folder: give the model's .cfg file",
    "model.folder_of_cfgs": "{path} is a folder: give one .cfg file in it ({cfgs})",
    "model.pytorch_file": f"{{path}} is a PyTorch model, which can run any program when it is loaded: {_EXPORT}, and give the .onnx file",
    "model.other_format": f"{{path}} is a model for {{form}}: {_EXPORT}, and give the .onnx file",
    "model.weights_file": "{path} is a weight file, not the description of a network: use {option}",
    "model.weights_without_cfg": "{path} is a weight file: give the .cfg that belongs to it as the model, and {option}",
    "model.lfs_pointer": "{path} is a pointer of Git LFS, not the file itself: 'git lfs pull' in its repository fetches the file",
    "model.web_page": "{path} is a web page, not the file itself: the download went wrong; download it again",
    "model.message": "{path} is a message in {form}, not the file itself: the download went wrong; download it again",
    "model.archive": "{path} is a {form} archive: unpack it, and give the file in it",
    # a cfg
    "model.in_section": "{path}, line {line}, [{section}]: {problem}",
    "model.in_layer": "{path}, line {line}, [{section}] (layer {layer}): {problem}",
    "model.with_hints": "{problem} ({hints})",
    "model.also_elsewhere": ("{problem}; also in {count} other section", "{problem}; also in {count} other sections"),
    "model.option_missing": "{key}= is missing",
    "model.option_empty": "{key}= has no value",
    "model.option_misspelt": "{key}= is ignored, Darknet's option is {known}=",
    "model.not_whole": "{key}={value}: '{text}' is not a whole number",
    "model.outside": "{key}={value} is outside {low}..{high}",
    "model.not_number": "{key}={value}: '{text}' is not a number",
    "model.not_between": "{key}={value} must be above {above:g} and at most {high:g}",
    "model.not_section": "{path}, line {line}: '{text}' is not a section: write it as [convolutional]",
    "model.not_option": "{path}, line {line}: '{text}' is neither a [section] nor option=value: is this a Darknet cfg?",
    "model.before_section": "{path}, line {line}: '{text}' is before the first section: a Darknet cfg begins with [net]",
    "model.no_sections": "{path} has no sections: is this a Darknet cfg?",
    "model.cfg_too_large": "{path} is larger than {mib} MiB: a Darknet cfg is a small text file",
    "model.cfg_is_binary": "{path} is a binary file, not a Darknet cfg (if it is a cfg, save it as UTF-8)",
    "model.wrong_size": "network size {width}×{height}: both must be multiples of 32, from 32 to {most}",
    "model.begins_with_net": "a Darknet cfg begins with [net]",
    "model.channels": "channels={channels} is not supported: pictures have 3 channels, red, green and blue",
    "model.no_head": "the network has no [yolo] or [region] layer: only Darknet's YOLO detectors can be used",
    "model.too_many_layers": "the network has more than {most:,} layers",
    "model.too_many_parameters": "the network has more than {most:,} parameters up to here: check filters= and size=",
    "model.too_many_values": "the network computes more than {most:,} values per picture up to here: check width= and height=",
    "model.unequal_strides": "stride_x={across} and stride_y={down} differ: only equal strides are supported",
    "model.window_too_large": "size={size} is larger than the input of {width}×{height} with its padding of {padding}",
    "model.unknown_activation": "activation={name} is unknown or not supported; supported are {supported}",
    "model.no_earlier_layer": "{key}={value} is not an earlier layer: the earlier layers are none",
    "model.not_earlier_layer": "{key}={value} is not an earlier layer: the earlier layers are 0 to {last}, or {first} to -1",
    "model.takes_one_layer": (
        "from= names {count} layer, but [{section}] takes one",
        "from= names {count} layers, but [{section}] takes one",
    ),
    "model.unknown_layer": "layer type [{name}] is unknown or not supported; supported are {supported}",
    "model.option_not_supported": "{key}={value} is not supported: use a model that was trained without it",
    "model.dilation": "dilation= is not supported: use a model that was trained without it",
    "model.input_is_head": "takes its input from [{head}] (layer {index}), which is an output of the network: put a [route] before it",
    "model.groups_of_filters": "groups={groups} must divide the {channels} channels of the input and filters={filters}",
    "model.groups_of_route": "groups={groups} does not divide the {channels} channels of layer {index}",
    "model.reorg_size": "stride={stride} must divide the width and height of {shape}",
    "model.reorg_channels": "stride={stride}: {square} must divide the {channels} channels of the input",
    "model.unequal_sum": "adds layer {index} of {shape} to {other}: width and height must be equal",
    "model.wrong_factors": "scales layer {source} of {shape} by {other}: that must be {needed}",
    "model.unequal_product": "multiplies layer {source} of {shape} by {other}: the sizes must be equal",
    "model.unequal_route": "joins layer {first} of {first_shape} and layer {index} of {shape}: width and height must be equal",
    "model.region_softmax": "softmax= must be 1: classes that do not exclude each other are not supported",
    "model.region_coords": "coords= must be 4: other coordinates are not supported",
    "model.unequal_classes": "classes={classes}, but [yolo] (layer {index}) has {other}: all heads must agree",
    "model.odd_anchors": "anchors= has {numbers} numbers, but they come in pairs of width and height",
    "model.head_channels": (
        "its input has {channels} channels, but {anchors} anchors · (5 + {classes} classes) = {needed}: correct {correct}"
    ),
    "model.correct_yolo": "filters= of the layer before it, mask= or classes=",
    "model.correct_region": "filters= of the layer before it, num= or classes=",
    # what a cfg says that has another effect than its author may expect: ModelSummary.notes
    "model.anchors_cut": "num={num} uses only the first {num} of the {listed} anchors that anchors= lists",
    "model.linear_new_coords": (
        "new_coords=1 expects values from 0 to 1, but the layer before it has activation=linear: networks of this kind are trained with "
        "activation=logistic there"
    ),
    # ONNX files
    "model.onnx_damaged": "{path} is not a usable ONNX file: {problem}",
    "model.onnx_empty": "it is empty",
    "model.onnx_no_protobuf": "it is damaged, or a file of another kind",
    "model.onnx_cut_off": "it is incomplete: copy or download it again",
    "model.onnx_no_graph": "it has no graph",
    "model.onnx_too_complex": "it has more or longer parts than a detector has",
    "model.onnx_wrong_constant": "the constant '{name}' has another size than its shape says",
    "model.onnx_cycle": "the operator {operator} reads '{value}' before it is computed: the graph has a cycle",
    "model.onnx_computed_twice": "the operator {operator} computes '{value}', which is computed before",
    "model.onnx_no_value": "{operator} reads '{value}', which nothing computes",
    "model.onnx_too_large": "{path} is larger than {most:,} bytes",
    "model.onnx_no_half": "{name} cannot be computed in fp16, because of {operators}: use fp32",
    "model.onnx_too_many_values": "{path} computes more than {most:,} values per picture",
    "model.onnx_not_loaded": "{path} cannot be loaded: {problem}",
    "model.onnx_unknown_domain": "{path} needs operators that are not ONNX's own: {operators}; export it without them",
    "model.onnx_outside_folder": "{path} has values in '{location}', which is not a file beside it: export it again, as one file",
    "model.onnx_several_files": "{path} has values in several files ({files}): export it again, as one file",
    "model.onnx_no_data": "{path} has values in another file, {data}, which is missing: put it beside the .onnx file",
    "model.onnx_data_link": "{path} has values in {data}, which is a symbolic link: put the file itself there",
    "model.onnx_data_too_short": "{data} does not belong to {path}: it ends before the values of '{name}'",
    "model.onnx_inputs": "{path} has inputs that no supported detector has: {inputs}",
    "model.onnx_no_pictures": "{path}: the input {input} takes no colour pictures of float32, float16 or bytes",
    "model.onnx_fixed_batch": "{path} takes exactly {batch} pictures at once: export it for one picture, or for any number",
    "model.onnx_fixed_size": "{path} takes only pictures of {width}×{height}: leave out {option}, or export it for another size",
    "model.onnx_size_needed": "{path} takes pictures of any size and does not say which it was made for: give {option}",
    "model.onnx_quantized": "{path} computes with 8-bit numbers, and finds other boxes on some processors: export it in float32 or float16",
    "model.onnx_task": "{path} is a network for {task}: only detectors of upright boxes can be used",
    "model.task_segment": "segmentation",
    "model.task_pose": "poses",
    "model.task_obb": "rotated boxes",
    "model.task_classify": "classification of whole pictures",
    "model.task_other": "'{name}'",
    "model.onnx_unknown_outputs": "{path} has outputs that no supported detector has: {outputs}",
    "model.onnx_unknown_nms": (
        "{path} has NMS that is not supported ({operator} with anchors, or with class_agnostic): export it without NMS"
    ),
    "model.onnx_raw_outputs": (
        "{path} has the raw outputs of a network, not boxes: {outputs}; export it with the computation of boxes, as YOLOv7 does with --grid"
    ),
    "model.onnx_distances": (
        "{path} has class scores and distributions of distances, as NanoDet, not boxes: {outputs}; export it with the computation of "
        "boxes, or choose another detector"
    ),
    "model.onnx_damo_yolo": (
        "{path} has the outputs of DAMO-YOLO, and does not say how pictures are to be prepared for it: choose another detector"
    ),
    "model.onnx_ambiguous": "{path} can be read in more than one way: {candidates}. Choose one with {option}; the answer is kept",
    "model.onnx_contradiction": (
        "the metadata of {path} contradicts its outputs, which fit only {candidates}: is it a detector? If so, use {option}"
    ),
    "model.onnx_candidate": "{name} ({meaning})",
    "model.onnx_reading_unfit": "the outputs of {path} cannot be read as '{name}', only as {candidates}",
    "model.onnx_read_as": "outputs read as {name} ({meaning})",
    "model.onnx_most_boxes": "at most {most} boxes of a picture: the network gives no more",
    "model.onnx_licence": "licence, as the file says: {licence}",
    "model.onnx_labels_needed": (
        "{path} does not say how many classes it has: give their names with {option} (for a network trained on COCO, write coco)"
    ),
    "model.onnx_wrong_heads": "{path} was written by 'framefleet export', but its description of the outputs is damaged: export it again",
    "model.reading_framefleet": "heads of a Darknet network, written by 'framefleet export'",
    "model.reading_yolov8": "a column for each box: centre, size, class scores; as YOLOv8, 9, 11 and 12",
    "model.reading_yolov8_corners": "a column for each box: corners, class scores; as YOLOv9 without ultralytics",
    "model.reading_yolov5": "a row for each box: centre, size, objectness, class scores; as YOLOv5, 6 and 7",
    "model.reading_yolox": "YOLOX without decoded boxes; blue, green, red",
    "model.reading_yolox_decoded": "YOLOX with decoded boxes; blue, green, red",
    "model.reading_end2end": "a row for each object: corners, score, class; as YOLOv10 and 26, or after suppression",
    "model.reading_rtdetr": "a row for each object: centre and size as fractions, class scores; as RT-DETR of ultralytics",
    "model.reading_rtdetr_sorted": "a row for each object: centre and size as fractions, score, class; as RT-DETR of ultralytics since 8.4",
    "model.reading_detr": "classes, corners and scores; as D-FINE, DEIM and RT-DETR",
    "model.reading_rf_detr": "boxes and logits; colours normalised as in ImageNet, as RF-DETR",
    "model.reading_detr_logits": "boxes and logits; colours from 0 to 1, as RT-DETR of transformers",
    "model.reading_detr_softmax": "boxes and logits, the last one for no object; colours normalised as in ImageNet, as DETR and YOLOS",
    "model.reading_yolov4": "corners as fractions, and class scores; as YOLOv4 of PyTorch",
    "model.reading_efficient_nms": "number, corners, scores and classes after suppression",
    "model.reading_before_nms": "corners and class scores before suppression; as YOLO-NAS and PP-YOLOE",
    "model.reading_nms_rows": "a row for each object: picture, corners, class, score; as YOLOv7 after suppression",
    "model.reading_nms_scored_rows": "a row for each object: picture, corners, score, class; as YOLO-NAS after suppression",
    # labels
    "model.labels_of_file": "{number} labels of {path}",
    "model.labels_of_coco": "the {number} labels of COCO: {reason}",
    "model.labels_numbered": "{number} classes without labels: {reason}; {option} names a file with them",
    "model.no_labels_beside": "no file with labels lies beside the model",
    "model.several_labels": "{folder} has several lists of labels for {classes} classes ({files}): choose one with {option}",
    "model.no_labels": "{path} is not a list of labels: a list of labels is a text file with one name per line",
    "model.label_empty": "{path}, line {line} is empty: every line must name a class",
    "model.label_not_printable": "{path}, line {line} has a character that cannot be printed: remove it",
    "model.wrong_labels": "{path} has {labels} labels, but the model has {classes} classes: choose the label file of this model",
    "model.no_class_id": "class id {name}: this model has {classes} classes, 0 to {last}",
    "model.no_class_but_similar": (
        "this model has no class '{name}': did you mean {similar}?",
        "this model has no class '{name}': did you mean one of {similar}?",
    ),
    "model.no_class_of_many": "this model has no class '{name}': it has {labels} and {more} more",
    "model.no_class": "this model has no class '{name}': it has {labels}",
    # weights
    "model.weights_too_short": "{path} has only {count} bytes: it is not a Darknet weight file",
    "model.wrong_weights": (
        "{path} does not belong to {cfg}: that network needs a weight file of exactly {expected:,} bytes, this one has {actual:,}; "
        "use a cfg and weights that were published together, or download the file again"
    ),
    "model.not_finite": (
        "{path}: the weights of [convolutional] (layer {layer}) are not all finite numbers: "
        "the training diverged, or the file is damaged; download it again or use an earlier one"
    ),
    "model.wrong_seed": "'{weights}' does not name random weights: write random:SEED with an integer, such as random:1",
    "model.too_few_layers": "{name} has {layers} layers: it cannot be cut into {stages} stages",
    "model.onnx_not_stored": "{path} cannot be written: {reason}; choose another place",
    # the catalogue and downloads
    "model.downloads": "models to download: {names}",
    "model.similar_downloads": "did you mean {similar}? models to download: {names}",
    "model.no_such_download": "there is no model '{name}' to download; {others}",
    "model.neither_file_nor_model": "'{name}' is neither a file nor a model to download; {others}",
    "model.not_downloaded": "{name} is not downloaded yet: 'framefleet models download {name}' does it ({megabytes:.0f} MB)",
    "model.unverified": (
        "nobody publishes a SHA-256 of {files}: of {name}, only size and structure can be checked, not who made the files; "
        "{option} downloads them all the same"
    ),
    "model.downloaded_elsewhere": "{name} is being downloaded already, by {holder}: wait until that has ended",
    "model.download_cancelled": "the download was cancelled",
    "model.not_deleted": "{path} cannot be deleted: {error}",
    "model.not_writable": "{path} cannot be written to: {error}",
    "model.disk_full": "{name} needs {needed:,.0f} MB more in {folder}, but only {free:,.0f} MB are free there: make room",
    "model.other_file_published": "{address} is not the file that was published: {problem}",
    "model.wrong_digest": (
        "its SHA-256 is not {digest}. It was damaged on its way or replaced on the server, and is deleted: "
        "try again, or use a .cfg and .weights of your own"
    ),
    "model.other_cfg": "it has {layers} layers and {parameters:,} parameters, {name} has {wanted} and {wanted_parameters:,}",
    "model.try_elsewhere": "try again later, name a mirror in FRAMEFLEET_MODELS_URL, or use a .cfg and .weights of your own",
    "model.interrupted_often": (
        "{address} was interrupted {attempts} times, the last time after {reached:,} bytes: try again to continue it"
    ),
    "model.interrupted": "{address} was interrupted after {reached:,} bytes ({reason}): try again to continue it",
    "model.interrupted_of": "{address} was interrupted after {reached:,} of {size:,} bytes ({reason}): try again to continue it",
    "model.too_slow": (
        "{address} was stopped after {reached:,} bytes: the server sends less than {rate:g} kB a second; try again to continue it"
    ),
    "model.refused_redirect": "{address} redirects to {target}, where a download is not safe: {advice}",
    "model.sends_more": "{address} sends more than the expected {most:,} bytes: it is another file; {advice}",
    "model.server_refuses": "{address} cannot be downloaded, the server answers '{reason}': {advice}",
    "model.answers_with_page": (
        "{address} answers with a web page instead of the file: if this network asks for a login, log in first, or {advice}"
    ),
    "model.wrong_length": (
        "{address} is announced with {announced:,} bytes, but this file has exactly {size:,}: "
        "the server has another file, or is misconfigured; {advice}"
    ),
    "model.proxy_silent": "{address} cannot be reached: the proxy that HTTP_PROXY or HTTPS_PROXY names does not answer ({reason})",
    "model.not_secure": (
        "{address} cannot be reached safely ({reason}): is the clock of this machine right? "
        "Behind a proxy that opens connections, name its certificate in REQUESTS_CA_BUNDLE"
    ),
    "model.no_web_address": (
        "'{address}' is not the address of a web server, which begins with https:// or http://: check FRAMEFLEET_MODELS_URL"
    ),
    "model.redirect_circle": "{address} redirects in a circle: {advice}",
    "model.not_reached": "{host} cannot be reached ({reason}) for {address}: is this machine online? Otherwise {advice}",
    "model.name_unknown": "its name is unknown here",
    "model.connection_refused": "it refuses the connection",
    "model.no_answer": "no answer in time",
    "model.certificate": "its certificate is not trusted",
    "model.no_secure_connection": "no secure connection could be made",
    "model.connection_closed": "the connection was closed",
    "model.network_unreachable": "the network is unreachable",
}
