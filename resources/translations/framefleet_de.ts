<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
<context>
    <name>corrections</name>
    <message>
        <source> – press G to join it with track {track}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, track {track}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, verified</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Class of the selected object</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Click an object, or press E</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Confirm</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>From this picture on, the track is another object</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Give it another class ({relabel})</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It is right: mark it as verified</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It is wrong: leave it out of all results</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Join</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing to undo</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Press it for a track, then for another one that is the same object</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Split</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Undo</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Undo the last correction of this session</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Undone: {words}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Whole track ({track})</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>counts</name>
    <message numerus="yes">
        <source>%Ln NVLinks</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln bytes</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln classes</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln detections</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln devices</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln files</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln frames</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln items</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln lines</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln links</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln objects</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln zones</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
</context>
<context>
    <name>demo</name>
    <message>
        <source> {fraction} so far.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Accuracy: mAP@0.5 {map50}, mAP@0.5:0.95 {map50_95}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancelled: the accuracy is measured when all frames are detected.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose your own model…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Comparing with the truth…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Demo</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mean average precision where a box that overlaps an object by half counts as right</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Measured against {objects} known objects. Each class at 0.5:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rendered streets, seen by the small model that comes with Framefleet. What is truly in each frame is known exactly.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The accuracy follows when all frames are detected.{so_far}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The same, averaged over overlaps from 0.5 to 0.95: how exactly the boxes fit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{label}: AP@0.5 {ap50}, AP@0.5:0.95 {ap50_95}, {objects}</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>devices</name>
    <message>
        <source>, {share} of the work</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All devices of this machine take part</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Bottleneck: {bottleneck}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Building</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Building the engine…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Building {building}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Clock</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Decoder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Devices</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Each device appears here when detection starts.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Encoder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Heat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Idle</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Latency of the last minute</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Leaving</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Leaving this run…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Left this run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Let another device take part</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Let {device} take part</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Load</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Median of the last half second</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory clock</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory traffic</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Power</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ready</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Recorded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Restarting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Restarting (attempt {attempt})</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Share</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Starting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Strategy: {strategy}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Take {device} out of this run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The batch went from {before} to {batch}: {value}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Throttled by</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Throughput of the last minute</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time per stage</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Utilization</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>With {name} no device can join or leave while a run goes on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Working</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>compute {compute_capability}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>driver {driver}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>frames/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>generation {pcie_generation}, {pcie_width} lanes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ms latency</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ms: {parts}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not available</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>nothing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>p99 {latency_p99} ms</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{backend} · {precision} · {width}×{height} · batch {batch}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{line}, {slots} at once
{precision}: {reason}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{memory_used} of {memory_total}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name} {value} ms</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{nvlinks}, receives {nvlink_rx}, sends {nvlink_tx}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{share} of the work</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{telemetry}, receives {pcie_rx}, sends {pcie_tx}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{value} GB/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{value} MB/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{value} of {limit}</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>events</name>
    <message numerus="yes">
        <source>%Ln events · Shift + N, P: next, previous</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>All events</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Appearances</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Class</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Class, track or place</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Confidence</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Crossings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Event</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Events</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Kind of event</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Length</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save as CSV…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search events</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Track</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Visits to zones</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>class {class_id}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{seconds} s</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>exporters</name>
    <message>
        <source>A copy of the video with the boxes drawn into it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A line per frame, for programs of your own</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A row each time an object appears, crosses a line or is in a zone, for spreadsheets</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A row per detection, counts per interval and a row per file, for spreadsheets, R and pandas</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A row per detection, small and fast, for pandas, DuckDB and Spark</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Annotated video</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Annotations to correct in CVAT</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Boxes as COCO, for pycocotools and labelling tools</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Boxes per video, for trackers and TrackEval</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>COCO</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CSV tables</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CVAT</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Counts at lines and zones</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Crossings, times in zones, counts per interval and routes, for spreadsheets: needs tracks, and lines or zones</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>JSON Lines</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Label Studio</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Labels and, if you like, pictures, to train a YOLO model with</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>List of events</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>MOTChallenge</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>MegaDetector</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Parquet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Predictions to correct in Label Studio</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Results of camera traps, for Timelapse and AddaxAI</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>YOLO data set</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>messages</name>
    <message>
        <source>Also in {log}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>An error inside Framefleet: {summary}. What is under way may be incomplete; please report it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Details of the error</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Details…</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Detection has not finished in %Ln files.</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Detection runs on the CPU. Not usable: {reasons}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Detection stopped: {message}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Finished frames are stored. At the next start you can continue where detection stopped.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep detecting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Quit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Quit Framefleet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>That is not possible: {message}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{device} failed and is out of this run: {reason}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{device} is being restarted: {reason}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{message} It is not started again for this file. Detection goes on.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{message} It was started again. Detection goes on.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>models</name>
    <message>
        <source> · {speed} MB/s · {remaining} left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Any Darknet .cfg and .weights; they can also be dropped here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Average precision on COCO at IoU 0.50–0.95; {ap50} at IoU 0.50</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancelling…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checking…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a model to start detecting: download one with a click, or drop a .cfg and its .weights here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose model…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Connecting…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Continue</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete it from {folder}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Detection is running with the old settings.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Discard</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Files that wait get the new settings in both cases.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Finish them first</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GFLOP / picture</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Give the .cfg file that belongs to {weights}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Give the model&apos;s .cfg and .weights files.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In use</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It is in use: choose another model first</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Models</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Models…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New settings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Remove</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Restart them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Retry</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model {name} is downloaded.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The official YOLOv4 family. All find the 80 classes of COCO: people, vehicles, animals, everyday things.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The size of picture the network sees</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The weight file has exactly {weights_bytes} bytes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There are no weights beside {name}: give its .weights file too.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use files of my own…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Work for one picture: half of it takes about half the time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>download</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>parameters</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>pixels</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{megabytes} MB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{names}: being downloaded.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{parameters} M</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{parameters} parameters</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{partial} is downloaded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{percent} · {done} of {total} MB</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>queue</name>
    <message numerus="yes">
        <source>
%Ln frames without detections</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>
Frames {decoder}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source> · {failed} failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source> · {rate} frames/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%Ln files were interrupted.</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Add files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancelled</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancelled after {frames}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Clear this list</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Detect again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drop to add {name}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drop to open these results</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drop to set the model and add {sources}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drop to use this model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Files you add appear here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Opening the results in {name}…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Queue</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Remove</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Remove all finished</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Remove from queue</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Retry</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Waiting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{changes}
The boxes are of the earlier file: detect again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{done} done</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{done} of {count} done</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name} failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name} failed: {explanation}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name} was interrupted.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{path} has changed since the detection.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{path} holds several models ({names}): drop the .cfg of the one you want</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{rate} frames/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{rate}/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{remaining} left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>… and {more} more</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>results</name>
    <message>
        <source>1 day</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 hour</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 minute</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>15 minutes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>30 seconds</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>5 minutes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A frame every 10 seconds</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A frame per minute</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A frame per second</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>All %Ln files of this run</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Begin with a byte order mark, so that Excel reads all letters</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Boxes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>COCO&apos;s labels as animal, person and vehicle</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>COCO&apos;s own, 1 to 90, for its 80 labels</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Categories</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Category ids</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a folder.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Content</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Continue</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Counted at</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Detections from {confidence} confidence, {classes}, as the window shows them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Discard</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draws</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Every 25th frame</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Every 5th frame</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Every frame</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Excel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Exported {written} to {folder}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Exporting as {title}…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>File</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Format</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Frame</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Frames</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Heat map</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Highest</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Intervals</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Labels and JPEG pictures</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Labels and PNG pictures</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Labels only</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lines and zones</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lowest</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Missed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Numbers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Objects</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Only frames</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Saved {picture}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Session</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show in folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The arrow keys show the next or previous frame. Missed: objects without a box. Wrong: boxes without an object.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The export as {title} was cancelled.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The last detection was interrupted: {count} of {sources} files are not finished.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The lower confidence must not be above the higher one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is nothing to export yet: open a file or stored results first.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This file has no lines and zones: draw some first (Ctrl + 3).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Trails</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where to write the files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>With a confidence from</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Worst frames</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Worst frames – {name}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Writes {names}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Writing {name}: {frames}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Wrong</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>all classes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot write {target}: check that the folder may be written and that the disk is not full</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>label=category, with commas between them, such as dog=animal,car=vehicle</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no lines and zones</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the folder {name}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>there is nothing to export yet: wait until detection has begun</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{database} does not exist any more, so its frames cannot be shown.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{database} holds no results: the run ended before it had looked at a file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{names} and {count} more</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{names} is there already: it is replaced if it is an earlier export of the same file; otherwise, the new one gets a number.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name} confidence</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name} is not in the queue any more: open {database} again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{path} is not a list of worst frames: open a worst-frames.json that &apos;framefleet evaluate --out&apos; wrote</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{title} is for videos only: choose another format.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>session</name>
    <message>
        <source>Detection ended before this file.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Waiting for a model</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>sessions</name>
    <message numerus="yes">
        <source>%Ln sessions, {size}, in {folder}</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>&apos;{name}&apos; cannot be a name: write at least one character, and no / \ or :</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 GiB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>100 GiB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>20 GiB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>5 GiB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Clean up…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Date</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Delete %Ln sessions ({size})?</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Delete sessions</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete sessions of this age</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete the oldest above this size</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Frames</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rename the session</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rename…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sessions</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Size on disk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Their detections are lost. The videos stay.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>and the oldest above</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot delete {path}: {strerror}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot rename {path}: {strerror}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>never by age</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no limit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>older than 3 months</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>older than a month</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>older than a week</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>older than a year</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>there is already a session named {strip}: choose another name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{used}: shown in the queue. Remove its files from the queue first.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>settings</name>
    <message>
        <source>A process for each device: a failure stays with its device</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Advanced</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Also the whole frame at once, for large objects</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As the model says</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Automatic: NVDEC on GPUs, for what it can decode</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Automatic: the best available</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Automatic: the best for the files and devices</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Automatic: the fastest whose detections match FP32</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>BF16</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Batch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Begin</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Built engines and other files that are made again when needed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ByteTrack: fast, weak detections continue a track</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cache</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checking…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a model that can be used</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Clock time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Columns of tiles</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Confidence</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Darknet network (*.cfg)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Darknet weights (*.weights)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Decode threads</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Decoding</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Depth: the network cut into stages, one per device</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Detection</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Devices</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download a model…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Each frame as soon as possible</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Empty</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>End</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Every frame</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>FP16</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>FP32</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Follow objects</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Found beside the network, or COCO&apos;s for 80 classes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Frames: decoded once, dealt to devices by speed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Full frame</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>IoU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Isolation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It was not found on this machine.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Labels</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Labels (*.names *.txt)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Latency budget</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Letterbox: keep the aspect ratio</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Logs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Looking for devices…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mixed: FP32, the last layers BF16</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Models</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Most frames per second</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>NVDEC: what it cannot decode fails</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Network (.cfg)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>None</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>OC-SORT: for objects that stop, turn or hide</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>One frame in</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>One process for all: takes less memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open {folder}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Optimized for</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Overlap (IoU)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Overlap of tiles</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Precision</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Resize</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rows of tiles</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search settings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Segments: all devices share each file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sessions</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Set everything but the model as at the first start</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Shares the processor with the other CPU devices</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sharing the work</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the folder: {name}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Something cannot be used: see the text in red</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Strategy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Streams: each file stays on one device</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stretch to the network&apos;s shape</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The end</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The start</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The variable XDG_DATA_HOME or XDG_CACHE_HOME moves these folders. Sessions (Ctrl+Shift+R) cleans them up.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This computer&apos;s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tick at least one device, or leave the choice to Framefleet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tile overlap</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tiles</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tiles: each frame cut into overlapping pieces</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time zone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Unknown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Videos</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a time such as 1:30, or a frame number</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a time such as 1s, or a number of frames</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>before this time or frame number</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>columns × rows</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>for a start; the slider beside the video changes it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>frames per inference</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>network description</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no model is chosen: choose one in the settings, or drop its .cfg and .weights on the window</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of a tile&apos;s side</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of the start: name, metadata, or a time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>overlap above which the weaker of two boxes goes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>segments that a device decodes at once</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>such as Europe/Berlin</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the longest that an automatic batch may take on a GPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{filename} cannot be deleted: {strerror}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{summary}
Labels: {labels}</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>stages</name>
    <message>
        <source>decode</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>deliver</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>download</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>infer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>network</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>postprocess</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>preprocess</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>queue</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>upload</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>timeline</name>
    <message numerus="yes">
        <source>%Ln frames failed</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Choose the whole video</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chosen part</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Detect only in this part</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing that is shown appears after this</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing that is shown appears before this</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Position in the video</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chosen part: drag its edges on the timeline, or press I and O (X: none)</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>topology</name>
    <message>
        <source> bonded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>; the most on link {number}: {rx}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All links of each:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Another machine, as it was when it was recorded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CPU {usage} %</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CPUs {cpus}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Devices</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Each may read the other&apos;s memory.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPU to GPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPUs: {inside}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How GPUs are joined</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Looking at this machine…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>NUMA node</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>NUMA node unknown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>NUMA node {node}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>NVLink</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>NVLink ×{nvlinks}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Neither reads the other&apos;s memory: what they exchange goes through the processors&apos; memory.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No GPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No GPU reads another&apos;s memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No NVIDIA GPU: the processors do the work.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not all GPUs read each other&apos;s memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not all is known: {problem}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>PCIe host bridge</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>PCIe switch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Processors and the memory that is nearest to them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Recorded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>SYS · between NUMA nodes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show larger</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The system does not tell where they are</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Topology</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Topology – Framefleet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Topology: {names}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What is behind it exchanges data without a processor</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where PCIe comes out of a processor</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>an unknown NUMA node</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>in an unknown way</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>near NUMA node {nodes}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no CPUs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no GPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>nothing is known</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>over PCIe {way}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>place unknown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>through a processor&apos;s PCIe host bridge</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>through one PCIe switch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>through several PCIe host bridges of one NUMA node</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>through several PCIe switches, not through a processor</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>through the connection between NUMA nodes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>unknown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{gpu} in {value}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{names}: each with each by {links}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{near}, CPUs {cpus}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{nvlinks} NVLinks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{nvlinks}; over PCIe {way}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{one} and {other}: {links}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{one} and {other}: {over}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{which}: what they exchange goes through the processors&apos; memory.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>↓&amp;nbsp;receives &amp;nbsp; ↑&amp;nbsp;sends</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>viewer</name>
    <message>
        <source> · {rate} frames/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 second forward or back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>5 seconds forward or back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>At {pts}: {found}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Begin or end a part here, or choose the whole video</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Classes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Clock time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Confidence</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Confidence from</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Confidence from, in percent</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Detection: {summary}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Enlarge the picture, or fit it again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>First or last frame</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Follow</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Follow detection</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Follow detection on or off</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Follow detection: play no further than what is analysed (D)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Frame</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Full screen</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hide all classes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Home  End</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Length</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next frame</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next or previous detection of the shown classes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next or previous frame</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No class has such a name.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No detections for this frame: {failure}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>None</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not analysed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not analysed yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not analysed: detection failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not analysed: detection was cancelled</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Opening…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause (Space)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Picture: {width} × {height} · {rate} shown a second · zoom {zoom}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Play</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Play (Space)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Play back, pause, play; again: twice as fast</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Play or pause</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Previous frame</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>S  Shift + S</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save the picture with or without its boxes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search classes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show all classes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show detections from this confidence on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Slower or faster</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Speed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Statistics over the picture</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The classes of the model appear here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The clock time of the picture</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The number of the frame, from 0</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The preview process ended {restarts} times on this file: {reason}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Video</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Waiting for detection</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Wheel  Ctrl + 0</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>class {class_id}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>frame {number}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not analysed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{description}
Double-click shows only this class</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{label} · {score}
{width} × {height} at {x}, {y}</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>{visible} of %Ln boxes · {device}</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
</context>
<context>
    <name>widgets</name>
    <message>
        <source>Choose {name}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>window</name>
    <message>
        <source> · building {building}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source> · {count} failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%Ln files waiting</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Add videos</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All sessions</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Another file of the queue</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Change…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a model…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose model…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Classes and devices at the right</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Correct detections and tracks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Correct detections and tracks: the bar under the picture shows its keys</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Detect objects in your videos</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Devices start with the first file.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download one with a click, or drop a Darknet .cfg and its .weights anywhere on this window.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drop videos, pictures or folders anywhere on this window, or open them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Everything runs on this machine, on every device you let it use.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export the detections</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Full screen</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hide or show the panels beside the picture</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lines, zones and events</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lines, zones and events: hide or show</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model: {name}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>More</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Move the file in the queue</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next or previous event of the list</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No device in use yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No device left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing at hand? A street and a model are built in.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open a folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open a folder (Ctrl+Shift+O)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open a folder of videos or pictures</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open files (Ctrl+O)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open files…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open folder…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open recent</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open stored results</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open stored results…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open videos and pictures</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Queue at the left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Quit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Remove the file from the queue, or put it back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sessions…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stored results (*{session} *{list});;All files (*)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Strategy: {strategy}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This list</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Undo removal</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Videos and pictures ({media});;All files (*)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Watch the demo</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>building the engine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{left} left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name}
{summary}
Click to change</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{total} frames/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{width} × {height} pixels, {classes} classes, {parameters} million parameters, {gflops} GFLOP a picture</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>zones</name>
    <message>
        <source>   {number} inside · {number2} in all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A line or zone needs a name.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Another line or zone has the name &apos;{name}&apos;.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Bottom of the box</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Centre of the box</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a line or zone to see its counts over time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Classes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Click its corners, then the first one again; Esc stops</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Click where it begins and where it ends</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Counted while detecting, up to {time}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Counts over time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Crossings in {length} s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete this set</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Double-click to edit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draw line</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draw zone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export lines and zones</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Follow the objects through the stored results</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Following the objects…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Heat map</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Import lines and zones</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Import…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Line</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lines and zones</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lines and zones (*.json)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lines and zones count tracked objects, and these results have no tracks.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lines and zones over the video</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name, such as that of the camera:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New set of lines and zones</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New set…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No lines and zones</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Numbers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Objects inside</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Point that counts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Redo</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reverse</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Set</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Set of lines and zones</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Swap the directions of the line</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The point of each box that must cross a line</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Top of the box</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Track the objects</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Trails</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Undo</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use for all files of the queue</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Videos of the same folder use the same set</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Zone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot write {path}: {strerror}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{mean} s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name}: {what}&amp;nbsp;&amp;nbsp;{legend}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>← / mean time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>→ / visits</source>
        <translation type="unfinished"></translation>
    </message>
</context>
</TS>
