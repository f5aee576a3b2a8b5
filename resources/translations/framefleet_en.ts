<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name>counts</name>
    <message numerus="yes">
        <source>%Ln NVLinks</source>
        <translation>
            <numerusform>%Ln NVLink</numerusform>
            <numerusform>%Ln NVLinks</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln bytes</source>
        <translation>
            <numerusform>%Ln byte</numerusform>
            <numerusform>%Ln bytes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln classes</source>
        <translation>
            <numerusform>%Ln class</numerusform>
            <numerusform>%Ln classes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln detections</source>
        <translation>
            <numerusform>%Ln detection</numerusform>
            <numerusform>%Ln detections</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln devices</source>
        <translation>
            <numerusform>%Ln device</numerusform>
            <numerusform>%Ln devices</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln files</source>
        <translation>
            <numerusform>%Ln file</numerusform>
            <numerusform>%Ln files</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln frames</source>
        <translation>
            <numerusform>%Ln frame</numerusform>
            <numerusform>%Ln frames</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln items</source>
        <translation>
            <numerusform>%Ln item</numerusform>
            <numerusform>%Ln items</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln lines</source>
        <translation>
            <numerusform>%Ln line</numerusform>
            <numerusform>%Ln lines</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln links</source>
        <translation>
            <numerusform>%Ln link</numerusform>
            <numerusform>%Ln links</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln objects</source>
        <translation>
            <numerusform>%Ln object</numerusform>
            <numerusform>%Ln objects</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln pictures</source>
        <translation>
            <numerusform>%Ln picture</numerusform>
            <numerusform>%Ln pictures</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln zones</source>
        <translation>
            <numerusform>%Ln zone</numerusform>
            <numerusform>%Ln zones</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>events</name>
    <message numerus="yes">
        <source>%Ln classes</source>
        <translation>
            <numerusform>%Ln class</numerusform>
            <numerusform>%Ln classes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln clips, {length} in all.</source>
        <translation>
            <numerusform>%Ln clip, {length} in all.</numerusform>
            <numerusform>%Ln clips, {length} in all.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln detections</source>
        <translation>
            <numerusform>%Ln detection</numerusform>
            <numerusform>%Ln detections</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln events</source>
        <translation>
            <numerusform>%Ln event</numerusform>
            <numerusform>%Ln events</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>More than %Ln clips are not written: show fewer classes or a higher confidence.</source>
        <translation>
            <numerusform>More than %Ln clip is not written: show fewer classes or a higher confidence.</numerusform>
            <numerusform>More than %Ln clips are not written: show fewer classes or a higher confidence.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Wrote %Ln files to {folder}.</source>
        <translation>
            <numerusform>Wrote %Ln file to {folder}.</numerusform>
            <numerusform>Wrote %Ln files to {folder}.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>messages</name>
    <message numerus="yes">
        <source>%Ln files failed.</source>
        <translation>
            <numerusform>%Ln file failed.</numerusform>
            <numerusform>%Ln files failed.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Detection has ended in %Ln files.</source>
        <translation>
            <numerusform>Detection has ended in %Ln file.</numerusform>
            <numerusform>Detection has ended in %Ln files.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Detection has not finished in %Ln files.</source>
        <translation>
            <numerusform>Detection has not finished in %Ln file.</numerusform>
            <numerusform>Detection has not finished in %Ln files.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>models</name>
    <message numerus="yes">
        <source>%Ln boxes</source>
        <translation>
            <numerusform>%Ln box</numerusform>
            <numerusform>%Ln boxes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln files are being detected with the old settings.</source>
        <translation>
            <numerusform>%Ln file is being detected with the old settings.</numerusform>
            <numerusform>%Ln files are being detected with the old settings.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>queue</name>
    <message numerus="yes">
        <source>
%Ln frames without detections</source>
        <translation>
            <numerusform>
%Ln frame without detections</numerusform>
            <numerusform>
%Ln frames without detections</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln files are already in the queue</source>
        <translation>
            <numerusform>%Ln file is already in the queue</numerusform>
            <numerusform>%Ln files are already in the queue</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln files go on where they stopped</source>
        <translation>
            <numerusform>%Ln file goes on where it stopped</numerusform>
            <numerusform>%Ln files go on where they stopped</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln files were interrupted</source>
        <translation>
            <numerusform>%Ln file was interrupted</numerusform>
            <numerusform>%Ln files were interrupted</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln frames have no detections, because they could not be read or detected.</source>
        <translation>
            <numerusform>%Ln frame has no detections, because it could not be read or detected.</numerusform>
            <numerusform>%Ln frames have no detections, because they could not be read or detected.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Add %Ln files to the queue?</source>
        <translation>
            <numerusform>Add %Ln file to the queue?</numerusform>
            <numerusform>Add %Ln files to the queue?</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Remove %Ln files</source>
        <translation>
            <numerusform>Remove %Ln file</numerusform>
            <numerusform>Remove %Ln files</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Removed %Ln files</source>
        <translation>
            <numerusform>Removed %Ln file</numerusform>
            <numerusform>Removed %Ln files</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>results</name>
    <message numerus="yes">
        <source>All %Ln files of this run</source>
        <translation>
            <numerusform>The %Ln file of this run</numerusform>
            <numerusform>All %Ln files of this run</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>The %Ln files with these lines and zones</source>
        <translation>
            <numerusform>The %Ln file with these lines and zones</numerusform>
            <numerusform>The %Ln files with these lines and zones</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>run</name>
    <message numerus="yes">
        <source>%Ln files are detected from the beginning: the model or the settings have changed.</source>
        <translation>
            <numerusform>%Ln file is detected from the beginning: the model or the settings have changed.</numerusform>
            <numerusform>%Ln files are detected from the beginning: the model or the settings have changed.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Continue, and remove %Ln corrections?</source>
        <translation>
            <numerusform>Continue, and remove %Ln correction?</numerusform>
            <numerusform>Continue, and remove %Ln corrections?</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>search</name>
    <message numerus="yes">
        <source>%Ln moments</source>
        <translation>
            <numerusform>%Ln moment</numerusform>
            <numerusform>%Ln moments</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln moments, the latest {shown} of them here</source>
        <translation>
            <numerusform>%Ln moment, the latest {shown} here</numerusform>
            <numerusform>%Ln moments, the latest {shown} of them here</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>The first %Ln moments; there may be more</source>
        <translation>
            <numerusform>The first moment; there may be more</numerusform>
            <numerusform>The first %Ln moments; there may be more</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>sessions</name>
    <message numerus="yes">
        <source>%Ln sessions, {size}</source>
        <translation>
            <numerusform>%Ln session, {size}</numerusform>
            <numerusform>%Ln sessions, {size}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Delete %Ln sessions ({size})?</source>
        <translation>
            <numerusform>Delete %Ln session ({size})?</numerusform>
            <numerusform>Delete %Ln sessions ({size})?</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>streams</name>
    <message numerus="yes">
        <source>%Ln more GPUs of this kind would do. The newest frame of each stream is analysed.</source>
        <translation>
            <numerusform>%Ln more GPU of this kind would do. The newest frame of each stream is analysed.</numerusform>
            <numerusform>%Ln more GPUs of this kind would do. The newest frame of each stream is analysed.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>timeline</name>
    <message numerus="yes">
        <source>%Ln crossings</source>
        <translation>
            <numerusform>%Ln crossing</numerusform>
            <numerusform>%Ln crossings</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln frames failed</source>
        <translation>
            <numerusform>%Ln frame failed</numerusform>
            <numerusform>%Ln frames failed</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>+ %Ln classes</source>
        <translation>
            <numerusform>+ %Ln class</numerusform>
            <numerusform>+ %Ln classes</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>viewer</name>
    <message numerus="yes">
        <source>{visible} of %Ln boxes · {device}</source>
        <translation>
            <numerusform>{visible} of %Ln box · {device}</numerusform>
            <numerusform>{visible} of %Ln boxes · {device}</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>widgets</name>
    <message numerus="yes">
        <source>%Ln more messages</source>
        <translation>
            <numerusform>1 more message</numerusform>
            <numerusform>%Ln more messages</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>window</name>
    <message numerus="yes">
        <source>%Ln files waiting</source>
        <translation>
            <numerusform>%Ln file waiting</numerusform>
            <numerusform>%Ln files waiting</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{percent} of %Ln files</source>
        <translation>
            <numerusform>{percent} of %Ln file</numerusform>
            <numerusform>{percent} of %Ln files</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>zones</name>
    <message numerus="yes">
        <source>The sum of %Ln files.</source>
        <translation>
            <numerusform>The sum of %Ln file.</numerusform>
            <numerusform>The sum of %Ln files.</numerusform>
        </translation>
    </message>
</context>
</TS>
