<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
<context>
    <name>bottleneck</name>
    <message>
        <source>Close other programs, or use fewer GPUs for this model.</source>
        <translation>Andere Programme beenden, oder weniger GPUs für dieses Modell verwenden.</translation>
    </message>
    <message>
        <source>Close other programs, or use videos with fewer pixels.</source>
        <translation>Andere Programme beenden, oder Videos mit weniger Pixeln verwenden.</translation>
    </message>
    <message>
        <source>Copy them to a faster disk, or detect in several files at once.</source>
        <translation>Auf einen schnelleren Datenträger kopieren, oder mehrere Dateien zugleich verarbeiten.</translation>
    </message>
    <message>
        <source>Detect in several files at once, or use videos with fewer pixels.</source>
        <translation>Mehrere Dateien zugleich verarbeiten, oder Videos mit weniger Pixeln verwenden.</translation>
    </message>
    <message>
        <source>Close other programs that use it, or remove it from this run.</source>
        <translation>Andere Programme auf dem Gerät beenden, oder es aus diesem Lauf nehmen.</translation>
    </message>
    <message>
        <source>Choose a smaller model, or more devices.</source>
        <translation>Ein kleineres Modell oder mehr Geräte wählen.</translation>
    </message>
    <message>
        <source>Its clock rates are reduced: {why}. Check the device.</source>
        <translation>Seine Taktraten sind gesenkt: {why}. Prüfen Sie das Gerät.</translation>
    </message>
    <message>
        <source>Limited by decoding.</source>
        <translation>Begrenzt durch das Decodieren.</translation>
    </message>
    <message>
        <source>Limited by decoding: the processors are busy.</source>
        <translation>Begrenzt durch das Decodieren: Die Prozessoren sind ausgelastet.</translation>
    </message>
    <message>
        <source>Limited by preparing frames for the model.</source>
        <translation>Begrenzt durch das Vorbereiten der Bilder für das Modell.</translation>
    </message>
    <message>
        <source>Limited by the model: the devices are fully used.</source>
        <translation>Begrenzt durch das Modell: Die Geräte sind ausgelastet.</translation>
    </message>
    <message>
        <source>Limited by reading the files.</source>
        <translation>Begrenzt durch das Lesen der Dateien.</translation>
    </message>
    <message>
        <source>Limited by storing the results.</source>
        <translation>Begrenzt durch das Speichern der Ergebnisse.</translation>
    </message>
    <message>
        <source>Limited by the GPUs&apos; video decoders.</source>
        <translation>Begrenzt durch die Videodecoder der GPUs.</translation>
    </message>
    <message>
        <source>Limited by the processors, which feed the GPUs.</source>
        <translation>Begrenzt durch die Prozessoren, die die GPUs versorgen.</translation>
    </message>
    <message>
        <source>Raise the lowest confidence, or keep the sessions on a faster disk.</source>
        <translation>Die niedrigste Konfidenz anheben, oder die Sitzungen auf einem schnelleren Datenträger ablegen.</translation>
    </message>
    <message>
        <source>Use more GPUs, or videos with fewer pixels.</source>
        <translation>Mehr GPUs verwenden, oder Videos mit weniger Pixeln.</translation>
    </message>
    <message>
        <source>Use videos with fewer pixels.</source>
        <translation>Videos mit weniger Pixeln verwenden.</translation>
    </message>
    <message>
        <source>{device} is slower than the others: {rate} instead of {usual} frames/s.</source>
        <translation>{device} ist langsamer als die anderen: {rate} statt {usual} Bilder/s.</translation>
    </message>
</context>
<context>
    <name>cluster</name>
    <message>
        <source>Address of the cluster</source>
        <translation>Adresse des Clusters</translation>
    </message>
    <message>
        <source>As “ray start --head” prints it. “auto” means the cluster that runs on this machine.</source>
        <translation>Wie „ray start --head“ sie ausgibt. „auto“ meint den Cluster, der auf diesem Rechner läuft.</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Connect</source>
        <translation>Verbinden</translation>
    </message>
    <message>
        <source>Connect to a cluster</source>
        <translation>Mit einem Cluster verbinden</translation>
    </message>
    <message>
        <source>Connected to {address}. These machines take part:</source>
        <translation>Verbunden mit {address}. Diese Rechner arbeiten mit:</translation>
    </message>
    <message>
        <source>Connect…</source>
        <translation>Verbinden …</translation>
    </message>
    <message>
        <source>Detection continues with the devices of this machine.</source>
        <translation>Die Erkennung läuft mit den Geräten dieses Rechners weiter.</translation>
    </message>
    <message>
        <source>Disconnect</source>
        <translation>Trennen</translation>
    </message>
    <message>
        <source>Files are detected on the machines of a Ray cluster. Results stay on this machine, which has to be part of the cluster.</source>
        <translation>Dateien werden auf den Rechnern eines Ray-Clusters analysiert. Die Ergebnisse bleiben auf diesem Rechner, der zum Cluster gehören muss.</translation>
    </message>
    <message>
        <source>Files from here: {rate}, {size} in all.</source>
        <translation>Dateien von hier: {rate}, insgesamt {size}.</translation>
    </message>
    <message>
        <source>Results to here: {rate}, {size} in all.</source>
        <translation>Ergebnisse hierher: {rate}, insgesamt {size}.</translation>
    </message>
    <message>
        <source>The cluster has changed</source>
        <translation>Der Cluster hat sich geändert</translation>
    </message>
    <message>
        <source>The cluster is disconnected</source>
        <translation>Der Cluster ist getrennt</translation>
    </message>
    <message>
        <source>The network cards of this machine receive {rx} and send {tx}.</source>
        <translation>Die Netzwerkkarten dieses Rechners empfangen {rx} und senden {tx}.</translation>
    </message>
    <message>
        <source>cannot be reached</source>
        <translation>nicht erreichbar</translation>
    </message>
    <message>
        <source>{count} failed</source>
        <translation>{count} fehlgeschlagen</translation>
    </message>
    <message>
        <source>{name} ({address}) cannot be reached</source>
        <translation>{name} ({address}) ist nicht erreichbar</translation>
    </message>
    <message>
        <source>{rate} frames/s</source>
        <translation>{rate} Bilder/s</translation>
    </message>
</context>
<context>
    <name>compare</name>
    <message>
        <source>Another session…</source>
        <translation>Andere Sitzung …</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Choose another session</source>
        <translation>Andere Sitzung wählen</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>Vergleichen</translation>
    </message>
    <message>
        <source>Compare with other results</source>
        <translation>Mit anderen Ergebnissen vergleichen</translation>
    </message>
    <message>
        <source>Comparing {name} with {other}…</source>
        <translation>{name} wird mit {other} verglichen …</translation>
    </message>
    <message>
        <source>Date</source>
        <translation>Datum</translation>
    </message>
    <message>
        <source>End the comparison</source>
        <translation>Vergleich beenden</translation>
    </message>
    <message>
        <source>Frames</source>
        <translation>Bilder</translation>
    </message>
    <message>
        <source>Looking for other results of {name}…</source>
        <translation>Andere Ergebnisse von {name} werden gesucht …</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>Weiter</translation>
    </message>
    <message>
        <source>Next difference</source>
        <translation>Nächster Unterschied</translation>
    </message>
    <message>
        <source>No difference after this</source>
        <translation>Kein weiterer Unterschied danach</translation>
    </message>
    <message>
        <source>No difference before this</source>
        <translation>Kein Unterschied davor</translation>
    </message>
    <message>
        <source>Only differences</source>
        <translation>Nur Unterschiede</translation>
    </message>
    <message>
        <source>Other results of this video</source>
        <translation>Andere Ergebnisse dieses Videos</translation>
    </message>
    <message>
        <source>Other results of {name}:</source>
        <translation>Andere Ergebnisse von {name}:</translation>
    </message>
    <message>
        <source>Previous</source>
        <translation>Zurück</translation>
    </message>
    <message>
        <source>Previous difference</source>
        <translation>Voriger Unterschied</translation>
    </message>
    <message>
        <source>Session</source>
        <translation>Sitzung</translation>
    </message>
    <message>
        <source>Sessions (*.sqlite)</source>
        <translation>Sitzungen (*.sqlite)</translation>
    </message>
    <message>
        <source>Show a video with results first: open it, or choose a session with Open stored results….</source>
        <translation>Zuerst ein Video mit Ergebnissen zeigen: öffnen, oder mit „Gespeicherte Ergebnisse öffnen…“ eine Sitzung wählen.</translation>
    </message>
    <message>
        <source>Solid: {first} · dashed: {second}</source>
        <translation>Durchgezogen: {first} · gestrichelt: {second}</translation>
    </message>
    <message>
        <source>The results cannot be compared</source>
        <translation>Die Ergebnisse lassen sich nicht vergleichen</translation>
    </message>
    <message>
        <source>There are no other results of {name} yet. Detect in it with another model: each run is stored.</source>
        <translation>Von {name} gibt es noch keine anderen Ergebnisse. Mit einem anderen Modell darin erkennen: jeder Lauf wird gespeichert.</translation>
    </message>
    <message>
        <source>comparing the frames…</source>
        <translation>die Bilder werden verglichen …</translation>
    </message>
    <message>
        <source>here {first} only solid, {second} only dashed</source>
        <translation>hier {first} nur durchgezogen, {second} nur gestrichelt</translation>
    </message>
    <message>
        <source>the results have no frame in common</source>
        <translation>die Ergebnisse haben kein Bild gemeinsam</translation>
    </message>
    <message>
        <source>{number} of {of} frames differ</source>
        <translation>{number} von {of} Bildern unterscheiden sich</translation>
    </message>
</context>
<context>
    <name>corrections</name>
    <message>
        <source>Choose a track, then another one that is the same object</source>
        <translation>Wählen Sie eine Spur, dann eine andere, die dasselbe Objekt ist</translation>
    </message>
    <message>
        <source>Class of the selected object</source>
        <translation>Klasse des gewählten Objekts</translation>
    </message>
    <message>
        <source>Confirm</source>
        <translation>OK</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>From this picture on, the track is another object</source>
        <translation>Ab diesem Bild ist die Spur ein anderes Objekt</translation>
    </message>
    <message>
        <source>track {number}</source>
        <translation>Spur {number}</translation>
    </message>
    <message>
        <source>track {track} ({label})</source>
        <translation>Spur {track} ({label})</translation>
    </message>
    <message>
        <source>track {track} split</source>
        <translation>Spur {track} geteilt</translation>
    </message>
    <message>
        <source>tracks {joined} and {track} joined</source>
        <translation>Spuren {joined} und {track} verbunden</translation>
    </message>
    <message>
        <source>verified</source>
        <translation>geprüft</translation>
    </message>
    <message>
        <source>It is right: mark it as verified</source>
        <translation>Richtig: als geprüft markieren</translation>
    </message>
    <message>
        <source>Class</source>
        <translation>Klasse</translation>
    </message>
    <message>
        <source>Click an object, or press {key}</source>
        <translation>Klicken Sie auf ein Objekt, oder drücken Sie {key}</translation>
    </message>
    <message>
        <source>Draw</source>
        <translation>Zeichnen</translation>
    </message>
    <message>
        <source>Draw the box of a missing object of the class {label}; another class: {key}</source>
        <translation>Den Rahmen eines fehlenden Objekts der Klasse {label} zeichnen; andere Klasse: {key}</translation>
    </message>
    <message>
        <source>Draw the box of an object that the model missed</source>
        <translation>Den Rahmen eines Objekts zeichnen, das das Modell nicht gefunden hat</translation>
    </message>
    <message>
        <source>Give it another class</source>
        <translation>Eine andere Klasse zuweisen</translation>
    </message>
    <message>
        <source>It is wrong: leave it out of all results</source>
        <translation>Falsch: in allen Ergebnissen weglassen</translation>
    </message>
    <message>
        <source>Join</source>
        <translation>Verbinden</translation>
    </message>
    <message>
        <source>Press {key} to join it with track {number}</source>
        <translation>{key} verbindet es mit Spur {number}</translation>
    </message>
    <message>
        <source>Select the other track and press {key}</source>
        <translation>Wählen Sie die andere Spur, dann {key}</translation>
    </message>
    <message>
        <source>Split</source>
        <translation>Teilen</translation>
    </message>
    <message>
        <source>This frame is in another part of the session: open that one to correct it</source>
        <translation>Dieses Bild ist in einem anderen Teil der Sitzung: Öffnen Sie jenen, um es zu korrigieren</translation>
    </message>
    <message>
        <source>This frame is not stored yet: wait until detection has come here, or pause it</source>
        <translation>Dieses Bild ist noch nicht gespeichert: Warten Sie, bis die Erkennung hier angekommen ist, oder halten Sie sie an</translation>
    </message>
    <message>
        <source>Track {track} begins in this frame: split it in a later one</source>
        <translation>Spur {track} beginnt in diesem Bild: Teilen Sie sie in einem späteren</translation>
    </message>
    <message>
        <source>Undo: {done}</source>
        <translation>Rückgängig machen: {done}</translation>
    </message>
    <message>
        <source>box of {object} moved</source>
        <translation>Rahmen von {object} geändert</translation>
    </message>
    <message>
        <source>{label} added</source>
        <translation>{label} hinzugefügt</translation>
    </message>
    <message>
        <source>{object} confirmed</source>
        <translation>{object} bestätigt</translation>
    </message>
    <message>
        <source>{object} deleted</source>
        <translation>{object} gelöscht</translation>
    </message>
    <message>
        <source>{object} is now {label}</source>
        <translation>{object} ist jetzt {label}</translation>
    </message>
    <message>
        <source>Whole track</source>
        <translation>Spur</translation>
    </message>
    <message>
        <source>Undo earlier correction</source>
        <translation>Frühere Korrektur zurücknehmen</translation>
    </message>
    <message>
        <source>Undo the last correction that an earlier run of the program stored</source>
        <translation>Die letzte Korrektur zurücknehmen, die ein früherer Lauf des Programms gespeichert hat</translation>
    </message>
    <message>
        <source>{next}, {previous}: next, previous object · Esc: none · &apos;{later}&apos;, &apos;{earlier}&apos;: next, previous frame</source>
        <translation>{next}, {previous}: nächstes, voriges Objekt · Esc: keins · „{later}“, „{earlier}“: nächstes, voriges Bild</translation>
    </message>
</context>
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
            <numerusform>%Ln Byte</numerusform>
            <numerusform>%Ln Byte</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln classes</source>
        <translation>
            <numerusform>%Ln Klasse</numerusform>
            <numerusform>%Ln Klassen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln detections</source>
        <translation>
            <numerusform>%Ln Erkennung</numerusform>
            <numerusform>%Ln Erkennungen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln devices</source>
        <translation>
            <numerusform>%Ln Gerät</numerusform>
            <numerusform>%Ln Geräte</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln files</source>
        <translation>
            <numerusform>%Ln Datei</numerusform>
            <numerusform>%Ln Dateien</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln frames</source>
        <translation>
            <numerusform>%Ln Bild</numerusform>
            <numerusform>%Ln Bilder</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln items</source>
        <translation>
            <numerusform>%Ln Element</numerusform>
            <numerusform>%Ln Elemente</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln lines</source>
        <translation>
            <numerusform>%Ln Linie</numerusform>
            <numerusform>%Ln Linien</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln links</source>
        <translation>
            <numerusform>%Ln Verbindung</numerusform>
            <numerusform>%Ln Verbindungen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln objects</source>
        <translation>
            <numerusform>%Ln Objekt</numerusform>
            <numerusform>%Ln Objekte</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln pictures</source>
        <translation>
            <numerusform>%Ln Bild</numerusform>
            <numerusform>%Ln Bilder</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln zones</source>
        <translation>
            <numerusform>%Ln Zone</numerusform>
            <numerusform>%Ln Zonen</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>demo</name>
    <message>
        <source> {fraction} are done.</source>
        <translation> {fraction} sind fertig.</translation>
    </message>
    <message>
        <source>Accuracy: mAP@0.5 {map50}, mAP@0.5:0.95 {map50_95}</source>
        <translation>Genauigkeit: mAP@0.5 {map50}, mAP@0.5:0.95 {map50_95}</translation>
    </message>
    <message>
        <source>Cancelled: the accuracy is measured when all frames are detected.</source>
        <translation>Abgebrochen: Die Genauigkeit wird gemessen, wenn alle Bilder analysiert sind.</translation>
    </message>
    <message>
        <source>Choose your own model…</source>
        <translation>Eigenes Modell wählen …</translation>
    </message>
    <message>
        <source>Comparing with the true objects…</source>
        <translation>Vergleich mit den wahren Objekten …</translation>
    </message>
    <message>
        <source>Demo</source>
        <translation>Demo</translation>
    </message>
    <message>
        <source>Framefleet prepares the model for this machine. The first time, this takes longer.</source>
        <translation>Framefleet bereitet das Modell für diesen Rechner vor. Beim ersten Mal dauert es länger.</translation>
    </message>
    <message>
        <source>Mean average precision where a box that overlaps an object by half counts as right</source>
        <translation>Mittlere Genauigkeit (mAP), wenn ein Rahmen zählt, der ein Objekt zur Hälfte überdeckt</translation>
    </message>
    <message>
        <source>Measured against {objects} known objects. Each class at 0.5:</source>
        <translation>Gemessen an {objects} bekannten Objekten. Jede Klasse bei 0.5:</translation>
    </message>
    <message>
        <source>The accuracy follows when all frames are detected.{done}</source>
        <translation>Die Genauigkeit folgt, wenn alle Bilder analysiert sind.{done}</translation>
    </message>
    <message>
        <source>The built-in model detects objects in rendered streets, where the true objects of each frame are known.</source>
        <translation>Das eingebaute Modell erkennt Objekte in gerenderten Straßen, deren wahre Objekte für jedes Bild bekannt sind.</translation>
    </message>
    <message>
        <source>The same, averaged over overlaps from 0.5 to 0.95: how exactly the boxes fit</source>
        <translation>Dasselbe, gemittelt über Überdeckungen von 0.5 bis 0.95: wie genau die Rahmen sitzen</translation>
    </message>
    <message>
        <source>{label}: AP@0.5 {ap50}, AP@0.5:0.95 {ap50_95}, {objects}</source>
        <translation>{label}: AP@0.5 {ap50}, AP@0.5:0.95 {ap50_95}, {objects}</translation>
    </message>
</context>
<context>
    <name>devices</name>
    <message>
        <source>Building</source>
        <translation>Engine wird gebaut</translation>
    </message>
    <message>
        <source>Building the engine…</source>
        <translation>Engine wird gebaut …</translation>
    </message>
    <message>
        <source>Building {building}</source>
        <translation>Engine wird gebaut: {building}</translation>
    </message>
    <message>
        <source>Clock</source>
        <translation>Takt</translation>
    </message>
    <message>
        <source>Decoder</source>
        <translation>Decoder</translation>
    </message>
    <message>
        <source>Devices</source>
        <translation>Geräte</translation>
    </message>
    <message>
        <source>Encoder</source>
        <translation>Encoder</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>Fehlgeschlagen</translation>
    </message>
    <message>
        <source>A recorded machine, not this one</source>
        <translation>Ein aufgezeichneter Rechner, nicht dieser</translation>
    </message>
    <message>
        <source>Add a device to this run</source>
        <translation>Diesem Lauf ein Gerät hinzufügen</translation>
    </message>
    <message>
        <source>Add {device} to this run</source>
        <translation>{device} diesem Lauf hinzufügen</translation>
    </message>
    <message>
        <source>All devices of this machine are in this run</source>
        <translation>Alle Geräte dieses Rechners sind in diesem Lauf</translation>
    </message>
    <message>
        <source>Idle</source>
        <translation>Untätig</translation>
    </message>
    <message>
        <source>Latency of the last minute</source>
        <translation>Latenz der letzten Minute</translation>
    </message>
    <message>
        <source>Leaving</source>
        <translation>Scheidet aus</translation>
    </message>
    <message>
        <source>Leaving this run…</source>
        <translation>Verlässt diesen Lauf …</translation>
    </message>
    <message>
        <source>Left</source>
        <translation>Ausgeschieden</translation>
    </message>
    <message>
        <source>Left this run</source>
        <translation>Hat diesen Lauf verlassen</translation>
    </message>
    <message>
        <source>Load</source>
        <translation>Last</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>Memory clock</source>
        <translation>Speichertakt</translation>
    </message>
    <message>
        <source>Memory traffic</source>
        <translation>Speicherverkehr</translation>
    </message>
    <message>
        <source>Power</source>
        <translation>Leistung</translation>
    </message>
    <message>
        <source>Ready</source>
        <translation>Bereit</translation>
    </message>
    <message>
        <source>Recorded</source>
        <translation>Aufgezeichnet</translation>
    </message>
    <message>
        <source>Remove {device} from this run</source>
        <translation>{device} aus diesem Lauf nehmen</translation>
    </message>
    <message>
        <source>Restarting</source>
        <translation>Startet neu</translation>
    </message>
    <message>
        <source>Restarting (attempt {attempt})</source>
        <translation>Startet neu (Versuch {attempt})</translation>
    </message>
    <message>
        <source>Slowest stage: {stage}</source>
        <translation>Langsamste Stufe: {stage}</translation>
    </message>
    <message>
        <source>Strategy: {name}</source>
        <translation>Strategie: {name}</translation>
    </message>
    <message>
        <source>Starting</source>
        <translation>Startet</translation>
    </message>
    <message>
        <source>99 of 100 within {time} ms</source>
        <translation>99 von 100 in {time} ms</translation>
    </message>
    <message>
        <source>A run will use {names}.</source>
        <translation>Ein Lauf wird {names} verwenden.</translation>
    </message>
    <message>
        <source>Choose devices…</source>
        <translation>Geräte wählen …</translation>
    </message>
    <message>
        <source>Choose the devices of the next run</source>
        <translation>Die Geräte des nächsten Laufs wählen</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>Wählen …</translation>
    </message>
    <message>
        <source>Frames per second</source>
        <translation>Bilder pro Sekunde</translation>
    </message>
    <message>
        <source>Half of the frames took at most this time</source>
        <translation>Die Hälfte der Bilder brauchte höchstens diese Zeit</translation>
    </message>
    <message>
        <source>Latency: 99 of 100 frames took at most this time, ms</source>
        <translation>Latenz: 99 von 100 Bildern brauchten höchstens diese Zeit, ms</translation>
    </message>
    <message>
        <source>Latency: half of the frames took at most this time, ms</source>
        <translation>Latenz: die Hälfte der Bilder brauchte höchstens diese Zeit, ms</translation>
    </message>
    <message>
        <source>Looking for devices…</source>
        <translation>Geräte werden gesucht …</translation>
    </message>
    <message>
        <source>No device can be used.</source>
        <translation>Kein Gerät ist nutzbar.</translation>
    </message>
    <message>
        <source>On the recorded machine, a run would use {names}.</source>
        <translation>Auf dem aufgezeichneten Rechner würde ein Lauf {names} verwenden.</translation>
    </message>
    <message>
        <source>Share</source>
        <translation>Anteil</translation>
    </message>
    <message>
        <source>Shows or hides the details</source>
        <translation>Zeigt oder verbirgt die Einzelheiten</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>Temperatur</translation>
    </message>
    <message>
        <source>The electrical power</source>
        <translation>Die elektrische Leistung</translation>
    </message>
    <message>
        <source>The load of the video decoder</source>
        <translation>Die Auslastung des Videodecoders</translation>
    </message>
    <message>
        <source>The memory of the device</source>
        <translation>Der Speicher des Geräts</translation>
    </message>
    <message>
        <source>The part of the frames that this device did</source>
        <translation>Der Anteil der Bilder, die dieses Gerät verarbeitet hat</translation>
    </message>
    <message>
        <source>The part of the time in which the device computed</source>
        <translation>Der Anteil der Zeit, in der das Gerät gerechnet hat</translation>
    </message>
    <message>
        <source>The used part of the memory</source>
        <translation>Der belegte Anteil des Speichers</translation>
    </message>
    <message>
        <source>This machine</source>
        <translation>Dieser Rechner</translation>
    </message>
    <message>
        <source>Throttled by</source>
        <translation>Gedrosselt durch</translation>
    </message>
    <message>
        <source>Throughput of the last minute</source>
        <translation>Durchsatz der letzten Minute</translation>
    </message>
    <message>
        <source>Time per stage</source>
        <translation>Zeit je Stufe</translation>
    </message>
    <message>
        <source>Utilization</source>
        <translation>Auslastung</translation>
    </message>
    <message>
        <source>Waits for</source>
        <translation>Wartet auf</translation>
    </message>
    <message>
        <source>What limits the throughput of this device</source>
        <translation>Was den Durchsatz dieses Geräts begrenzt</translation>
    </message>
    <message>
        <source>{part} of the frames</source>
        <translation>{part} der Bilder</translation>
    </message>
    <message>
        <source>The batch size changed from {before} to {batch}: {value}</source>
        <translation>Die Batchgröße wurde von {before} auf {batch} geändert: {value}</translation>
    </message>
    <message>
        <source>In this run: {frames}. Half of the frames took at most {p50} ms, 99 of 100 at most {p99} ms.</source>
        <translation>In diesem Lauf: {frames}. Die Hälfte der Bilder brauchte höchstens {p50} ms, 99 von 100 höchstens {p99} ms.</translation>
    </message>
    <message>
        <source>With {name}, devices cannot join or leave during a run</source>
        <translation>Mit {name} können während eines Laufs keine Geräte hinzukommen oder ausscheiden</translation>
    </message>
    <message>
        <source>Working</source>
        <translation>Arbeitet</translation>
    </message>
    <message>
        <source>a run will not use it</source>
        <translation>ein Lauf wird es nicht verwenden</translation>
    </message>
    <message>
        <source>a run will use it</source>
        <translation>ein Lauf wird es verwenden</translation>
    </message>
    <message>
        <source>compute {compute_capability}</source>
        <translation>Compute {compute_capability}</translation>
    </message>
    <message>
        <source>decoding</source>
        <translation>Dekodieren</translation>
    </message>
    <message>
        <source>driver {driver}</source>
        <translation>Treiber {driver}</translation>
    </message>
    <message>
        <source>frames/s</source>
        <translation>Bilder/s</translation>
    </message>
    <message>
        <source>frames/s, mean</source>
        <translation>Ø Bilder/s</translation>
    </message>
    <message>
        <source>generation {pcie_generation}, {pcie_width} lanes</source>
        <translation>Generation {pcie_generation}, {pcie_width} Lanes</translation>
    </message>
    <message>
        <source>latency {p50} ms, 99 of 100 frames within {p99} ms</source>
        <translation>Latenz {p50} ms, 99 von 100 Bildern in {p99} ms</translation>
    </message>
    <message>
        <source>ms latency</source>
        <translation>ms Latenz</translation>
    </message>
    <message>
        <source>ms: {parts}</source>
        <translation>ms: {parts}</translation>
    </message>
    <message>
        <source>not available</source>
        <translation>nicht verfügbar</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>nichts</translation>
    </message>
    <message>
        <source>p50 ms</source>
        <translation>p50 ms</translation>
    </message>
    <message>
        <source>p50 {p50} · p99 {p99} ms</source>
        <translation>p50 {p50} · p99 {p99} ms</translation>
    </message>
    <message>
        <source>p50 {p50} · p99 {p99} s</source>
        <translation>p50 {p50} · p99 {p99} s</translation>
    </message>
    <message>
        <source>p99 ms</source>
        <translation>p99 ms</translation>
    </message>
    <message>
        <source>preparation</source>
        <translation>Vorbereitung</translation>
    </message>
    <message>
        <source>slower than the others</source>
        <translation>langsamer als die anderen</translation>
    </message>
    <message>
        <source>storing</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>waits for {what}</source>
        <translation>wartet auf {what}</translation>
    </message>
    <message>
        <source>{backend} · {precision} · {width}×{height} · batch {batch}</source>
        <translation>{backend} · {precision} · {width}×{height} · Batch {batch}</translation>
    </message>
    <message>
        <source>{line}, {slots} at once
{precision}: {reason}</source>
        <translation>{line}, {slots} gleichzeitig
{precision}: {reason}</translation>
    </message>
    <message>
        <source>{memory_used} of {memory_total}</source>
        <translation>{memory_used} von {memory_total}</translation>
    </message>
    <message>
        <source>{name} {value} ms</source>
        <translation>{name} {value} ms</translation>
    </message>
    <message>
        <source>{nvlinks}, receives {nvlink_rx}, sends {nvlink_tx}</source>
        <translation>{nvlinks}, empfängt {nvlink_rx}, sendet {nvlink_tx}</translation>
    </message>
    <message>
        <source>{rate} frames/s</source>
        <translation>{rate} Bilder/s</translation>
    </message>
    <message>
        <source>{telemetry}, receives {pcie_rx}, sends {pcie_tx}</source>
        <translation>{telemetry}, empfängt {pcie_rx}, sendet {pcie_tx}</translation>
    </message>
    <message>
        <source>{value} GB/s</source>
        <translation>{value} GB/s</translation>
    </message>
    <message>
        <source>{value} MB/s</source>
        <translation>{value} MB/s</translation>
    </message>
    <message>
        <source>{value} of {limit}</source>
        <translation>{value} von {limit}</translation>
    </message>
</context>
<context>
    <name>engine</name>
    <message>
        <source>&apos;framefleet doctor&apos; says what is missing</source>
        <translation>„framefleet doctor“ nennt, was fehlt</translation>
    </message>
    <message>
        <source>&apos;{address}&apos; is not the address of a cluster: write HOST:PORT, as &apos;ray start --head&apos; prints it, or auto</source>
        <translation>„{address}“ ist keine Adresse eines Clusters: Schreiben Sie HOST:PORT, wie „ray start --head“ es ausgibt, oder auto</translation>
    </message>
    <message>
        <source>&apos;{address}&apos;: the Ray Client is not supported; let this machine join (ray start --address=HOST:6379 --num-cpus=0), and give HOST:6379</source>
        <translation>„{address}“: Der Ray-Client wird nicht unterstützt; verbinden Sie diesen Rechner (ray start --address=HOST:6379 --num-cpus=0), und geben Sie HOST:6379 an</translation>
    </message>
    <message>
        <source>CUDA cannot be started ({problem}): {remedy}</source>
        <translation>CUDA kann nicht gestartet werden ({problem}): {remedy}</translation>
    </message>
    <message>
        <source>CUDA does not show it: restart the machine, or install the driver again</source>
        <translation>CUDA zeigt das Gerät nicht: den Rechner neu starten, oder den Treiber neu installieren</translation>
    </message>
    <message>
        <source>End of file</source>
        <translation>die Datei endet zu früh</translation>
    </message>
    <message>
        <source>Framefleet is not installed there</source>
        <translation>Framefleet ist dort nicht installiert</translation>
    </message>
    <message>
        <source>Input/output error</source>
        <translation>Fehler beim Lesen oder Schreiben</translation>
    </message>
    <message>
        <source>Invalid data found when processing input</source>
        <translation>die Daten sind ungültig</translation>
    </message>
    <message>
        <source>NVDEC cannot decode it ({problem})</source>
        <translation>NVDEC kann die Datei nicht dekodieren ({problem})</translation>
    </message>
    <message>
        <source>NVDEC does not return its first frame</source>
        <translation>NVDEC liefert das erste Bild nicht</translation>
    </message>
    <message>
        <source>NVDEC&apos;s first frame differs from FFmpeg&apos;s</source>
        <translation>das erste Bild von NVDEC weicht von dem von FFmpeg ab</translation>
    </message>
    <message>
        <source>NVIDIA&apos;s driver does not answer ({problem}): {remedy}</source>
        <translation>der NVIDIA-Treiber antwortet nicht ({problem}): {remedy}</translation>
    </message>
    <message>
        <source>NVIDIA&apos;s driver is not installed</source>
        <translation>der NVIDIA-Treiber ist nicht installiert</translation>
    </message>
    <message>
        <source>Ray {ray} on Python {python}</source>
        <translation>Ray {ray} mit Python {python}</translation>
    </message>
    <message>
        <source>a cluster needs Ray ({error}): pip install &apos;framefleet[cluster]&apos;, here and on every node</source>
        <translation>ein Cluster braucht Ray ({error}): pip install &apos;framefleet[cluster]&apos;, hier und auf jedem Knoten</translation>
    </message>
    <message>
        <source>a compatibility library is loaded instead of the driver&apos;s own: remove it from LD_LIBRARY_PATH</source>
        <translation>statt der Bibliothek des Treibers ist eine Kompatibilitätsbibliothek geladen: sie aus LD_LIBRARY_PATH entfernen</translation>
    </message>
    <message>
        <source>a frame is missing or out of order</source>
        <translation>ein Bild fehlt oder ist nicht in der Reihenfolge</translation>
    </message>
    <message>
        <source>a packet has no presentation time</source>
        <translation>ein Paket hat keine Anzeigezeit</translation>
    </message>
    <message>
        <source>a packet is damaged</source>
        <translation>ein Paket ist beschädigt</translation>
    </message>
    <message>
        <source>a step in building the engine for {device}</source>
        <translation>ein Schritt beim Bau der Engine für {device}</translation>
    </message>
    <message>
        <source>an inference on {device}</source>
        <translation>eine Inferenz auf {device}</translation>
    </message>
    <message>
        <source>another process</source>
        <translation>ein anderer Prozess</translation>
    </message>
    <message>
        <source>another run or window is using it: choose another folder, or close that one</source>
        <translation>ein anderer Lauf oder ein anderes Fenster benutzt sie: einen anderen Ordner wählen, oder dort schließen</translation>
    </message>
    <message>
        <source>as the settings say</source>
        <translation>wie in den Einstellungen</translation>
    </message>
    <message>
        <source>build an engine of batch {batch}</source>
        <translation>eine Engine mit Batch {batch} bauen</translation>
    </message>
    <message>
        <source>built without the cache: {refusal}</source>
        <translation>ohne Cache gebaut: {refusal}</translation>
    </message>
    <message>
        <source>cannot read {path}: {value}</source>
        <translation>{path} ist nicht lesbar: {value}</translation>
    </message>
    <message>
        <source>cannot write {path}: another run uses it, {holder}: wait until it has ended, or choose another folder</source>
        <translation>{path} lässt sich nicht schreiben: ein anderer Lauf benutzt sie, {holder}: auf dessen Ende warten, oder einen anderen Ordner wählen</translation>
    </message>
    <message>
        <source>choosing cuDNN&apos;s plans</source>
        <translation>wählt die Pläne von cuDNN</translation>
    </message>
    <message>
        <source>clocks of the display</source>
        <translation>Takt der Anzeige</translation>
    </message>
    <message>
        <source>clocks set by an application</source>
        <translation>von einer Anwendung gesetzter Takt</translation>
    </message>
    <message>
        <source>decoding a picture of {path}</source>
        <translation>das Dekodieren eines Bildes von {path}</translation>
    </message>
    <message>
        <source>directly where devices can reach each other</source>
        <translation>direkt, wo Geräte einander erreichen</translation>
    </message>
    <message>
        <source>finish an inference</source>
        <translation>eine Inferenz abschließen</translation>
    </message>
    <message>
        <source>for the lowest latency</source>
        <translation>für die kürzeste Latenz</translation>
    </message>
    <message>
        <source>frames are missing</source>
        <translation>Bilder fehlen</translation>
    </message>
    <message>
        <source>hardware slowdown</source>
        <translation>Drosselung durch die Hardware</translation>
    </message>
    <message>
        <source>hidden by CUDA_VISIBLE_DEVICES={setting}</source>
        <translation>verborgen durch CUDA_VISIBLE_DEVICES={setting}</translation>
    </message>
    <message>
        <source>hold decoded frames</source>
        <translation>dekodierte Bilder speichern</translation>
    </message>
    <message>
        <source>inference failed: {problem}</source>
        <translation>die Inferenz schlug fehl: {problem}</translation>
    </message>
    <message>
        <source>it cannot be opened: check that the folder exists and may be written, or choose another folder</source>
        <translation>sie lässt sich nicht öffnen: prüfen, ob der Ordner existiert und beschreibbar ist, oder einen anderen wählen</translation>
    </message>
    <message>
        <source>it cannot be started: {error}</source>
        <translation>kein Start möglich: {error}</translation>
    </message>
    <message>
        <source>it does not begin with a keyframe</source>
        <translation>es beginnt nicht mit einem Keyframe</translation>
    </message>
    <message>
        <source>it ended with status {status}</source>
        <translation>Ende mit Status {status}</translation>
    </message>
    <message>
        <source>it has no packets</source>
        <translation>es hat keine Pakete</translation>
    </message>
    <message>
        <source>it has no sequence parameter set</source>
        <translation>es hat kein Sequence Parameter Set</translation>
    </message>
    <message>
        <source>it is HDR video ({transfer}), which the CPU converts to standard dynamic range</source>
        <translation>es ist ein HDR-Video ({transfer}), das die CPU in normalen Dynamikumfang umrechnet</translation>
    </message>
    <message>
        <source>it is a folder</source>
        <translation>es ist ein Ordner</translation>
    </message>
    <message>
        <source>it is a picture of a source</source>
        <translation>es ist ein Bild einer Quelle</translation>
    </message>
    <message>
        <source>it is a source, a file of the model or the session itself</source>
        <translation>es ist eine Quelle, eine Datei des Modells oder die Sitzung selbst</translation>
    </message>
    <message>
        <source>it is not a session database: choose another name, or move the file away</source>
        <translation>es ist keine Sitzungsdatenbank: einen anderen Namen wählen, oder die Datei verschieben</translation>
    </message>
    <message>
        <source>it is not a session database: give the .sqlite file that a run has written</source>
        <translation>es ist keine Sitzungsdatenbank: die .sqlite-Datei eines Laufs angeben</translation>
    </message>
    <message>
        <source>it is not a regular file</source>
        <translation>es ist keine normale Datei</translation>
    </message>
    <message>
        <source>&apos;{name}&apos; counts a class that the model does not have: {error}</source>
        <translation>„{name}“ zählt eine Klasse, die das Modell nicht hat: {error}</translation>
    </message>
    <message>
        <source>a {shape} has no name, or one that cannot be printed: name it</source>
        <translation>eine {shape} hat keinen oder keinen druckbaren Namen: benennen</translation>
    </message>
    <message>
        <source>an object has the key &apos;{name}&apos; twice</source>
        <translation>ein Objekt hat den Schlüssel „{name}“ zweimal</translation>
    </message>
    <message>
        <source>begins where it ends: a line needs two different points</source>
        <translation>beginnt, wo sie endet: eine Linie braucht zwei verschiedene Punkte</translation>
    </message>
    <message>
        <source>counts {counts}: give growing numbers of devices, beginning with 1, such as 1,2,4</source>
        <translation>Anzahlen {counts}: wachsende Zahlen von Geräten angeben, beginnend mit 1, etwa 1,2,4</translation>
    </message>
    <message>
        <source>crosses or touches itself: the edge behind point {one} meets the edge behind point {other}; move a point</source>
        <translation>kreuzt oder berührt sich selbst: die Kante hinter Punkt {one} trifft die Kante hinter Punkt {other}; einen Punkt verschieben</translation>
    </message>
    <message>
        <source>decoded by the CPU</source>
        <translation>von der CPU dekodiert</translation>
    </message>
    <message>
        <source>decoding {path}</source>
        <translation>das Dekodieren von {path}</translation>
    </message>
    <message>
        <source>did you mean {similar}? models to download: {names}</source>
        <translation>meinten Sie {similar}? Modelle zum Herunterladen: {names}</translation>
    </message>
    <message>
        <source>file:///{rest} is an address: give the path alone, /{rest}</source>
        <translation>file:///{rest} ist eine Adresse: nur den Pfad angeben, /{rest}</translation>
    </message>
    <message>
        <source>files are cut at keyframes, and all {devices} devices work on the oldest one</source>
        <translation>Dateien werden an Keyframes geschnitten, und alle {devices} Geräte arbeiten an der ältesten</translation>
    </message>
    <message>
        <source>has a point that is not a number</source>
        <translation>hat einen Punkt, der keine Zahl ist</translation>
    </message>
    <message>
        <source>has no area: move a point</source>
        <translation>hat keine Fläche: einen Punkt verschieben</translation>
    </message>
    <message>
        <source>has the point {x:g}, {y:g} outside the picture of {width}×{height} pixels: move it inside</source>
        <translation>hat den Punkt {x:g}, {y:g} außerhalb des Bildes von {width}×{height} Pixeln: nach innen verschieben</translation>
    </message>
    <message>
        <source>has {number} points: a zone needs at least 3</source>
        <translation>hat {number} Punkte: eine Zone braucht mindestens 3</translation>
    </message>
    <message>
        <source>has {number} points: at most {highest} are possible</source>
        <translation>hat {number} Punkte: höchstens {highest} sind möglich</translation>
    </message>
    <message>
        <source>it has the value {name}, which is not a number of pixels</source>
        <translation>sie hat den Wert {name}, der keine Zahl von Pixeln ist</translation>
    </message>
    <message>
        <source>it has the version {version}, and this Framefleet reads {known}</source>
        <translation>sie hat die Version {version}, und dieses Framefleet liest {known}</translation>
    </message>
    <message>
        <source>it has the version {version}, and this Framefleet reads {known}: update Framefleet</source>
        <translation>sie hat die Version {version}, und dieses Framefleet liest {known}: Framefleet aktualisieren</translation>
    </message>
    <message>
        <source>it is not JSON that can be read: {error}</source>
        <translation>sie ist kein lesbares JSON: {error}</translation>
    </message>
    <message>
        <source>it is not JSON: {problem} in line {line}, column {column}</source>
        <translation>sie ist kein JSON: {problem} in Zeile {line}, Spalte {column}</translation>
    </message>
    <message>
        <source>it is not there, or cannot be opened: check the name and the permissions</source>
        <translation>sie ist nicht da oder lässt sich nicht öffnen: Namen und Rechte prüfen</translation>
    </message>
    <message>
        <source>it is read-only: choose another folder, or change the permissions</source>
        <translation>Schreibschutz: einen anderen Ordner wählen, oder die Rechte ändern</translation>
    </message>
    <message>
        <source>it refuses this machine: if it was started with a token, set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN_PATH here, too</source>
        <translation>er weist diesen Rechner ab: Wurde er mit einem Token gestartet, setzen Sie auch hier RAY_AUTH_MODE=token und RAY_AUTH_TOKEN_PATH</translation>
    </message>
    <message>
        <source>it runs {theirs}, and this machine {ours}: install the same on both</source>
        <translation>dort läuft {theirs} und auf diesem Rechner {ours}: Installieren Sie auf beiden dasselbe</translation>
    </message>
    <message>
        <source>it was cancelled</source>
        <translation>Es wurde abgebrochen</translation>
    </message>
    <message>
        <source>it was removed</source>
        <translation>es wurde entfernt</translation>
    </message>
    <message>
        <source>its agent has ended</source>
        <translation>sein Agent ist beendet</translation>
    </message>
    <message>
        <source>its container does not say when a frame is shown</source>
        <translation>der Container sagt nicht, wann ein Bild gezeigt wird</translation>
    </message>
    <message>
        <source>its data is incomplete or damaged</source>
        <translation>die Daten sind unvollständig oder beschädigt</translation>
    </message>
    <message>
        <source>its driver fails: {error}</source>
        <translation>der Treiber schlägt fehl: {error}</translation>
    </message>
    <message>
        <source>its kernel module is not loaded: restart the machine, or install the driver again</source>
        <translation>das Kernelmodul ist nicht geladen: den Rechner neu starten, oder den Treiber neu installieren</translation>
    </message>
    <message>
        <source>its last packet may be incomplete</source>
        <translation>das letzte Paket ist vielleicht unvollständig</translation>
    </message>
    <message>
        <source>layer {index}: a YOLO layer that follows no convolution</source>
        <translation>Schicht {index}: eine YOLO-Schicht, die auf keine Faltung folgt</translation>
    </message>
    <message>
        <source>layer {index}: a concatenation of channel groups</source>
        <translation>Schicht {index}: eine Verkettung von Kanalgruppen</translation>
    </message>
    <message>
        <source>layer {index}: a convolution of {groups} groups with {activation}</source>
        <translation>Schicht {index}: eine Faltung mit {groups} Gruppen und {activation}</translation>
    </message>
    <message>
        <source>layer {index}: a sum that does not follow a convolution of the same shape</source>
        <translation>Schicht {index}: eine Summe, die nicht auf eine Faltung derselben Form folgt</translation>
    </message>
    <message>
        <source>line</source>
        <translation>Linie</translation>
    </message>
    <message>
        <source>no custom layers</source>
        <translation>keine eigenen Schichten</translation>
    </message>
    <message>
        <source>no device</source>
        <translation>kein Gerät</translation>
    </message>
    <message>
        <source>no device can be used ({reasons}); &apos;framefleet doctor&apos; says what is missing</source>
        <translation>kein Gerät ist verwendbar ({reasons}); „framefleet doctor“ nennt, was fehlt</translation>
    </message>
    <message>
        <source>no device is left: {device}: {why}</source>
        <translation>kein Gerät ist übrig: {device}: {why}</translation>
    </message>
    <message>
        <source>no device to run on: &apos;framefleet devices&apos; lists yours</source>
        <translation>kein Gerät für den Lauf: „framefleet devices“ listet Ihre</translation>
    </message>
    <message>
        <source>no frame in it can be decoded</source>
        <translation>kein Bild darin ist dekodierbar</translation>
    </message>
    <message>
        <source>no memory for a batch of {batch}</source>
        <translation>kein Speicher für einen Batch von {batch}</translation>
    </message>
    <message>
        <source>no node of the cluster at {address} can take part: {reasons}</source>
        <translation>kein Knoten des Clusters bei {address} kann mitarbeiten: {reasons}</translation>
    </message>
    <message>
        <source>no node of the cluster has a device that can be used ({problems})</source>
        <translation>kein Knoten des Clusters hat ein nutzbares Gerät ({problems})</translation>
    </message>
    <message>
        <source>no node offers processors or GPUs</source>
        <translation>kein Knoten bietet Prozessoren oder GPUs an</translation>
    </message>
    <message>
        <source>no picture in the folder {path}: give a folder that contains pictures or a video file</source>
        <translation>kein Bild im Ordner {path}: einen Ordner mit Bildern oder eine Videodatei angeben</translation>
    </message>
    <message>
        <source>no video and no picture in the folder {path}: names must end in .mp4, .mkv, .jpg or another of {known} suffixes; name files with other suffixes one by one</source>
        <translation>kein Video und kein Bild im Ordner {path}: Namen müssen auf .mp4, .mkv, .jpg oder eine andere von {known} Endungen enden; Dateien mit anderen Endungen einzeln nennen</translation>
    </message>
    <message>
        <source>node {name} cannot be reached: {why}</source>
        <translation>Knoten {name} ist nicht erreichbar: {why}</translation>
    </message>
    <message>
        <source>node {name} has joined</source>
        <translation>Knoten {name} ist hinzugekommen</translation>
    </message>
    <message>
        <source>nothing was stored</source>
        <translation>nichts wurde gespeichert</translation>
    </message>
    <message>
        <source>open the device</source>
        <translation>das Gerät öffnen</translation>
    </message>
    <message>
        <source>other reasons</source>
        <translation>andere Gründe</translation>
    </message>
    <message>
        <source>permission denied: choose another folder, or change the permissions</source>
        <translation>keine Berechtigung: einen anderen Ordner wählen, oder die Rechte ändern</translation>
    </message>
    <message>
        <source>pictures are decoded by the CPU</source>
        <translation>Bilder dekodiert die CPU</translation>
    </message>
    <message>
        <source>power brake</source>
        <translation>Leistungsbremse</translation>
    </message>
    <message>
        <source>power limit</source>
        <translation>Leistungsgrenze</translation>
    </message>
    <message>
        <source>preparing its kernels</source>
        <translation>ihre Kernel werden vorbereitet</translation>
    </message>
    <message>
        <source>restart the machine</source>
        <translation>den Rechner neu starten</translation>
    </message>
    <message>
        <source>restart the machine, or install the driver again</source>
        <translation>den Rechner neu starten, oder den Treiber neu installieren</translation>
    </message>
    <message>
        <source>run the network</source>
        <translation>das Netz ausführen</translation>
    </message>
    <message>
        <source>set for this run, others were not tried</source>
        <translation>für diesen Lauf festgelegt, andere wurden nicht probiert</translation>
    </message>
    <message>
        <source>start an inference</source>
        <translation>eine Inferenz beginnen</translation>
    </message>
    <message>
        <source>sync boost</source>
        <translation>Sync Boost</translation>
    </message>
    <message>
        <source>telemetry cannot be started: {error}</source>
        <translation>die Telemetrie lässt sich nicht starten: {error}</translation>
    </message>
    <message>
        <source>telemetry is not available: {reason}</source>
        <translation>Telemetrie ist nicht verfügbar: {reason}</translation>
    </message>
    <message>
        <source>temperature (hardware)</source>
        <translation>Temperatur (Hardware)</translation>
    </message>
    <message>
        <source>the code of Framefleet</source>
        <translation>der Code von Framefleet</translation>
    </message>
    <message>
        <source>the connection was lost</source>
        <translation>die Verbindung ging verloren</translation>
    </message>
    <message>
        <source>the decoder is closed</source>
        <translation>der Decoder ist geschlossen</translation>
    </message>
    <message>
        <source>the device&apos;s memory is too small for {batch}</source>
        <translation>der Speicher des Geräts ist zu klein für {batch}</translation>
    </message>
    <message>
        <source>the disk failed or is full: check the space left and the disk, or choose another folder</source>
        <translation>der Datenträger hat einen Fehler oder ist voll: freien Platz und Datenträger prüfen, oder einen anderen Ordner wählen</translation>
    </message>
    <message>
        <source>the disk is full: free some space or choose another folder</source>
        <translation>der Datenträger ist voll: Platz schaffen, oder einen anderen Ordner wählen</translation>
    </message>
    <message>
        <source>the driver&apos;s libraries and its kernel module are of different versions: restart the machine</source>
        <translation>Bibliotheken und Kernelmodul des Treibers haben verschiedene Versionen: den Rechner neu starten</translation>
    </message>
    <message>
        <source>the earlier results are kept in {kept}</source>
        <translation>die früheren Ergebnisse bleiben in {kept}</translation>
    </message>
    <message>
        <source>the engine stopped working: {problem}</source>
        <translation>die Engine arbeitet nicht mehr: {problem}</translation>
    </message>
    <message>
        <source>the fabric manager of its NVSwitches does not run: &apos;systemctl start nvidia-fabricmanager&apos;, as administrator</source>
        <translation>der Fabric Manager der NVSwitches läuft nicht: „systemctl start nvidia-fabricmanager“, als Administrator</translation>
    </message>
    <message>
        <source>the facts about the run, or an index</source>
        <translation>die Angaben zum Lauf, oder ein Index</translation>
    </message>
    <message>
        <source>the file</source>
        <translation>die Datei</translation>
    </message>
    <message>
        <source>the file has no key &apos;version&apos;: a zones file begins with &quot;version&quot;: {known}, &quot;width&quot; and &quot;height&quot; of the video</source>
        <translation>die Datei hat keinen Schlüssel „version“: eine Zonendatei beginnt mit &quot;version&quot;: {known}, &quot;width&quot; und &quot;height&quot; des Videos</translation>
    </message>
    <message>
        <source>the file is damaged: move it away or delete it, and run the detection again</source>
        <translation>die Datei ist beschädigt: sie verschieben oder löschen, und neu erkennen</translation>
    </message>
    <message>
        <source>the first convolution</source>
        <translation>die erste Faltung</translation>
    </message>
    <message>
        <source>the head of the cluster has ended</source>
        <translation>der Kopfknoten des Clusters ist beendet</translation>
    </message>
    <message>
        <source>the labels have changed</source>
        <translation>die Klassennamen haben sich geändert</translation>
    </message>
    <message>
        <source>the largest that is tried</source>
        <translation>der größte, der probiert wird</translation>
    </message>
    <message>
        <source>the lines and zones were drawn for pictures of {drawn} pixels, and {where} has {there}, which is another shape: draw them for this camera</source>
        <translation>die Linien und Zonen wurden für Bilder von {drawn} Pixeln gezeichnet, und {where} hat {there}, eine andere Form: für diese Kamera zeichnen</translation>
    </message>
    <message>
        <source>the list of sources</source>
        <translation>die Liste der Quellen</translation>
    </message>
    <message>
        <source>the margin is {margin}: it is a share of a box&apos;s shorter side, from 0 to 1</source>
        <translation>der Rand ist {margin}: er ist ein Anteil der kürzeren Seite eines Rahmens, von 0 bis 1</translation>
    </message>
    <message>
        <source>the memory for decoded frames has been given back: the engine was closed</source>
        <translation>der Speicher für dekodierte Bilder ist zurückgegeben: die Engine wurde geschlossen</translation>
    </message>
    <message>
        <source>the model cannot be read: {error}</source>
        <translation>das Modell kann nicht gelesen werden: {error}</translation>
    </message>
    <message>
        <source>the node has ended</source>
        <translation>der Knoten ist beendet</translation>
    </message>
    <message>
        <source>the only one this device offers</source>
        <translation>die einzige, die dieses Gerät bietet</translation>
    </message>
    <message>
        <source>the part that describes the whole file</source>
        <translation>der Teil, der die ganze Datei beschreibt</translation>
    </message>
    <message>
        <source>the pictures are {width}×{height} pixels: both numbers must be above 0</source>
        <translation>die Bilder haben {width}×{height} Pixel: beide Zahlen müssen über 0 liegen</translation>
    </message>
    <message>
        <source>the preview process</source>
        <translation>der Vorschauprozess</translation>
    </message>
    <message>
        <source>the process for the cluster cannot be started: {error}</source>
        <translation>der Prozess für den Cluster kann nicht gestartet werden: {error}</translation>
    </message>
    <message>
        <source>the process printed no answer</source>
        <translation>der Prozess gab keine Antwort aus</translation>
    </message>
    <message>
        <source>the process that is connected to the cluster</source>
        <translation>der Prozess, der mit dem Cluster verbunden ist,</translation>
    </message>
    <message>
        <source>the process that writes clips</source>
        <translation>der Prozess, der Clips schreibt</translation>
    </message>
    <message>
        <source>the query of NVDEC&apos;s capabilities failed (CUDA error {status})</source>
        <translation>die Abfrage der Fähigkeiten von NVDEC schlug fehl (CUDA-Fehler {status})</translation>
    </message>
    <message>
        <source>the reference is {value}: choose from {choices}</source>
        <translation>der Bezugspunkt ist {value}: aus {choices} wählen</translation>
    </message>
    <message>
        <source>the run has ended</source>
        <translation>der Lauf ist beendet</translation>
    </message>
    <message>
        <source>the search failed: {problem}</source>
        <translation>die Suche schlug fehl: {problem}</translation>
    </message>
    <message>
        <source>the stream changes its format</source>
        <translation>der Strom ändert sein Format</translation>
    </message>
    <message>
        <source>the stream may change its format</source>
        <translation>der Strom ändert vielleicht sein Format</translation>
    </message>
    <message>
        <source>the video is interlaced, which NVDEC shows deinterlaced</source>
        <translation>das Video ist verschachtelt (interlaced), und NVDEC zeigt es entschachtelt</translation>
    </message>
    <message>
        <source>the video may be interlaced, which NVDEC shows deinterlaced</source>
        <translation>das Video ist vielleicht verschachtelt (interlaced), und NVDEC zeigt es entschachtelt</translation>
    </message>
    <message>
        <source>the worker</source>
        <translation>der Arbeitsprozess</translation>
    </message>
    <message>
        <source>the worker died on this frame twice</source>
        <translation>der Arbeitsprozess endete an diesem Bild zweimal</translation>
    </message>
    <message>
        <source>the worker of {device} ended the process that both share</source>
        <translation>der Arbeitsprozess von {device} beendete den Prozess, den beide teilen</translation>
    </message>
    <message>
        <source>the {number} labels of COCO: {reason}</source>
        <translation>die {number} Labels von COCO: {reason}</translation>
    </message>
    <message>
        <source>the {what} of the pictures is {value}: write a whole number of pixels</source>
        <translation>{what} der Bilder ist {value}: eine ganze Zahl von Pixeln schreiben</translation>
    </message>
    <message>
        <source>there is no NVIDIA driver: its library libnvidia-ml cannot be found</source>
        <translation>es gibt keinen NVIDIA-Treiber: seine Bibliothek libnvidia-ml fehlt</translation>
    </message>
    <message>
        <source>there is no frame of a source to compare precisions on</source>
        <translation>es gibt kein Bild einer Quelle, um Genauigkeiten zu vergleichen</translation>
    </message>
    <message>
        <source>there is no memory for {batch} ({problem})</source>
        <translation>es gibt keinen Speicher für {batch} ({problem})</translation>
    </message>
    <message>
        <source>this node has another {path}: copy the model to it, or remove the file there, and it is sent</source>
        <translation>dieser Knoten hat eine andere Datei {path}: Kopieren Sie das Modell dorthin, oder entfernen Sie dort die Datei, dann wird sie gesendet</translation>
    </message>
    <message>
        <source>two lines or zones have the name &apos;{name}&apos;: rename one</source>
        <translation>zwei Linien oder Zonen heißen „{name}“: eine umbenennen</translation>
    </message>
    <message>
        <source>unknown error</source>
        <translation>unbekannter Fehler</translation>
    </message>
    <message>
        <source>zone</source>
        <translation>Zone</translation>
    </message>
    <message>
        <source>{boxes} boxes in {pictures} frames of the first sources are too few to compare precisions</source>
        <translation>{boxes} Rahmen in {pictures} Bildern der ersten Quellen sind zu wenig, um Genauigkeiten zu vergleichen</translation>
    </message>
    <message>
        <source>{file} is a file: choose another folder</source>
        <translation>{file} ist eine Datei: einen anderen Ordner wählen</translation>
    </message>
    <message>
        <source>{name} did not arrive as it was sent</source>
        <translation>{name} kam nicht so an, wie es gesendet wurde</translation>
    </message>
    <message>
        <source>{number} classes without labels: {reason}; {option} names a file with them</source>
        <translation>{number} Klassen ohne Labels: {reason}; {option} nennt eine Datei mit ihnen</translation>
    </message>
    <message>
        <source>{number} lines and zones: at most {highest} are possible</source>
        <translation>{number} Linien und Zonen: höchstens {highest} sind möglich</translation>
    </message>
    <message>
        <source>{path} changed while it was sent: detect in it again when it is complete</source>
        <translation>{path} hat sich beim Senden geändert: Erkennen Sie erneut, wenn die Datei vollständig ist</translation>
    </message>
    <message>
        <source>{path} does not exist: clips are taken from the video itself; put it back, or change the folder&apos;s name back</source>
        <translation>{path} existiert nicht: Clips stammen aus dem Video selbst; es zurücklegen, oder den Ordner zurückbenennen</translation>
    </message>
    <message>
        <source>{path} has more than {megabytes} MiB: it is not a zones file</source>
        <translation>{path} hat mehr als {megabytes} MiB: das ist keine Zonendatei</translation>
    </message>
    <message>
        <source>{path} has no frame that can be decoded; copy the file again or repair it</source>
        <translation>{path} hat kein Bild, das dekodiert werden kann; kopieren Sie die Datei erneut oder reparieren Sie sie</translation>
    </message>
    <message>
        <source>{path} is a part of a session database: give the .sqlite file</source>
        <translation>{path} ist ein Teil einer Sitzungsdatenbank: geben Sie die .sqlite-Datei an</translation>
    </message>
    <message>
        <source>{path} is a session, not a truth: correct it, and give a file of &apos;framefleet results {path} --format coco&apos; instead</source>
        <translation>{path} ist eine Sitzung, keine Referenz: sie korrigieren und stattdessen eine Datei von „framefleet results {path} --format coco“ angeben</translation>
    </message>
    <message>
        <source>{path} is an animation, of which only the first picture could be read: convert it to a video</source>
        <translation>{path} ist eine Animation, von der nur das erste Bild gelesen werden konnte: in ein Video umwandeln</translation>
    </message>
    <message>
        <source>{path} is not UTF-8 text at byte {byte}: save it as UTF-8</source>
        <translation>{path} ist ab Byte {byte} kein UTF-8-Text: als UTF-8 speichern</translation>
    </message>
    <message>
        <source>{path} is not a video that can be read ({detail}): it may be damaged, unfinished or of another kind</source>
        <translation>{path} ist kein lesbares Video ({detail}): vielleicht beschädigt, unfertig oder von anderer Art</translation>
    </message>
    <message>
        <source>{path} is not cut as in the earlier run: use {option} to begin again</source>
        <translation>{path} ist nicht wie im früheren Lauf geschnitten: mit {option} neu beginnen</translation>
    </message>
    <message>
        <source>{path} is not there or cannot be read: put it back, or export without pictures</source>
        <translation>{path} fehlt oder ist nicht lesbar: zurücklegen, oder ohne Bilder exportieren</translation>
    </message>
    <message>
        <source>{path} stays unfinished, since {kills} workers in a row ended while they worked on the same part of it: {why}. Close other programs or use fewer devices, and run again</source>
        <translation>{path} bleibt unfertig, denn {kills} Arbeitsprozesse nacheinander endeten an derselben Stelle: {why}. Andere Programme schließen oder weniger Geräte verwenden, und den Lauf wiederholen</translation>
    </message>
    <message>
        <source>{path} vanished from the cache of this node</source>
        <translation>{path} ist aus dem Cache dieses Knotens verschwunden</translation>
    </message>
    <message>
        <source>{path} was removed or moved while the run wrote it, and its results are lost: {cause}</source>
        <translation>{path} wurde entfernt oder verschoben, während der Lauf sie schrieb, und die Ergebnisse sind verloren: {cause}</translation>
    </message>
    <message>
        <source>{path} was removed or moved while the run wrote it. The run ends; its results so far are in {place}</source>
        <translation>{path} wurde entfernt oder verschoben, während der Lauf sie schrieb. Der Lauf endet; seine Ergebnisse bis hierher sind in {place}</translation>
    </message>
    <message>
        <source>{path}: a raw stream has no times, so its clips cannot be found: convert it to MP4 and detect again</source>
        <translation>{path}: Ein roher Datenstrom hat keine Zeiten, daher sind seine Ausschnitte nicht zu finden: in MP4 umwandeln und neu erkennen</translation>
    </message>
    <message>
        <source>{path}: its tracks were joined or split by hand and stay: &apos;framefleet track {option}&apos; tracks again</source>
        <translation>{path}: die Spuren wurden von Hand verbunden oder geteilt und bleiben: „framefleet track {option}“ verfolgt erneut</translation>
    </message>
    <message>
        <source>{path}: pictures have no times: give {begin}, {end} and {every} as numbers of pictures</source>
        <translation>{path}: Bilder haben keine Zeiten: {begin}, {end} und {every} als Zahl von Bildern angeben</translation>
    </message>
    <message>
        <source>{path}: pictures have no times; give numbers of pictures, from 0</source>
        <translation>{path}: Bilder haben keine Zeiten; Nummern von Bildern angeben, ab 0</translation>
    </message>
    <message>
        <source>{path}: the frame at {seconds:.3f} s was not found again: detect again, or leave pictures out</source>
        <translation>{path}: das Bild bei {seconds:.3f} s wurde nicht wiedergefunden: neu erkennen, oder Bilder weglassen</translation>
    </message>
    <message>
        <source>{path}: {count} frame at {seconds:.3f} s could not be decoded ({cause}); copy the file again or repair it</source>
        <translation>{path}: {count} Bild bei {seconds:.3f} s nicht dekodierbar ({cause}); die Datei neu kopieren oder reparieren</translation>
    </message>
    <message>
        <source>{path}: {count} frame on which a worker crashed is detected again, with those behind it</source>
        <translation>{path}: {count} Bild, an dem ein Arbeitsprozess abstürzte, wird neu verarbeitet, samt denen dahinter</translation>
    </message>
    <message>
        <source>{path}: {count} frames at {seconds:.3f} s could not be decoded ({cause}); copy the file again or repair it</source>
        <translation>{path}: {count} Bilder bei {seconds:.3f} s nicht dekodierbar ({cause}); die Datei neu kopieren oder reparieren</translation>
    </message>
    <message>
        <source>{path}: {count} frames on which a worker crashed are detected again, with those behind the first one</source>
        <translation>{path}: {count} Bilder, an denen ein Arbeitsprozess abstürzte, werden neu verarbeitet, samt denen hinter dem ersten</translation>
    </message>
    <message>
        <source>{precision} without trials, {share:.1%} of its detections are those of fp32 ({matching:.0%} needed)</source>
        <translation>{precision} ohne Versuche, {share:.1%} der Erkennungen sind die von fp32 (nötig: {matching:.0%})</translation>
    </message>
    <message>
        <source>{problem}; it is not counted</source>
        <translation>{problem}; es wird nicht gezählt</translation>
    </message>
    <message>
        <source>{process} ended: {reason}</source>
        <translation>{process} endete: {reason}</translation>
    </message>
    <message>
        <source>{reason}: choose another folder, or change the permissions</source>
        <translation>{reason}: einen anderen Ordner wählen, oder die Rechte ändern</translation>
    </message>
    <message>
        <source>{scheme}://{rest} is an address, and only files and folders are read: download the file first</source>
        <translation>{scheme}://{rest} ist eine Adresse, und nur Dateien und Ordner werden gelesen: die Datei erst herunterladen</translation>
    </message>
    <message>
        <source>{scheme}://{rest} is the address of a camera or stream, and only files and folders are read: record it to a file first</source>
        <translation>{scheme}://{rest} ist die Adresse einer Kamera oder eines Streams, und nur Dateien und Ordner werden gelesen: erst in eine Datei aufnehmen</translation>
    </message>
    <message>
        <source>{shape} &apos;{name}&apos; has all its points between 0 and 1: write pixels, not shares. Multiply x by the width and y by the height of the picture</source>
        <translation>{shape} „{name}“ hat alle Punkte zwischen 0 und 1: Pixel schreiben, keine Anteile. x mit der Breite und y mit der Höhe des Bildes multiplizieren</translation>
    </message>
    <message>
        <source>{size:.1f} GB do not fit into {folder}</source>
        <translation>{size:.1f} GB passen nicht in {folder}</translation>
    </message>
    <message>
        <source>{source} has no frame from {moment} on</source>
        <translation>{source} hat ab {moment} kein Bild</translation>
    </message>
    <message>
        <source>{target} is one of the sessions to join: choose another folder</source>
        <translation>{target} ist eine der Sitzungen, die verbunden werden: einen anderen Ordner wählen</translation>
    </message>
    <message>
        <source>Building engine</source>
        <translation>Engine wird gebaut</translation>
    </message>
    <message>
        <source>Building engine from subgraph</source>
        <translation>Engine wird aus dem Teilgraphen gebaut</translation>
    </message>
    <message>
        <source>Cloning network graph</source>
        <translation>Netzgraph wird kopiert</translation>
    </message>
    <message>
        <source>Computing profile costs</source>
        <translation>Kosten des Profils werden berechnet</translation>
    </message>
    <message>
        <source>Computing reformatting costs</source>
        <translation>Kosten der Umformatierung werden berechnet</translation>
    </message>
    <message>
        <source>Determining refit engines</source>
        <translation>Engines zum Anpassen werden bestimmt</translation>
    </message>
    <message>
        <source>Optimizing graph</source>
        <translation>Graph wird optimiert</translation>
    </message>
    <message>
        <source>Preparing graph for optimization</source>
        <translation>Graph wird zur Optimierung vorbereitet</translation>
    </message>
    <message>
        <source>Timing graph nodes</source>
        <translation>Knoten des Graphen werden gemessen</translation>
    </message>
    <message>
        <source>Timing tactics</source>
        <translation>Taktiken werden gemessen</translation>
    </message>
    <message>
        <source>Timing tensor reformats</source>
        <translation>Umformatierungen werden gemessen</translation>
    </message>
    <message>
        <source>building cuDNN&apos;s plans</source>
        <translation>baut die Pläne von cuDNN</translation>
    </message>
    <message>
        <source>looking up detections</source>
        <translation>Erkennungen werden nachgeschlagen</translation>
    </message>
    <message>
        <source>nothing answers at {address} ({why}): start a cluster with &apos;ray start --head&apos;, or check the address</source>
        <translation>unter {address} antwortet nichts ({why}): Starten Sie einen Cluster mit „ray start --head“, oder prüfen Sie die Adresse</translation>
    </message>
    <message>
        <source>there is no {device}: this machine has {devices} ({count} core can be used)</source>
        <translation>{device} gibt es nicht: dieser Rechner hat {devices} ({count} Kern ist nutzbar)</translation>
    </message>
    <message>
        <source>there is no {device}: this machine has {devices} ({count} cores can be used)</source>
        <translation>{device} gibt es nicht: dieser Rechner hat {devices} ({count} Kerne sind nutzbar)</translation>
    </message>
    <message>
        <source>this GPU&apos;s NVDEC cannot decode {codec} of {depth} bits</source>
        <translation>NVDEC dieser GPU kann {codec} mit {depth} Bit nicht dekodieren</translation>
    </message>
    <message>
        <source>this device has no fp32 to compare with</source>
        <translation>dieses Gerät hat kein fp32 zum Vergleichen</translation>
    </message>
    <message>
        <source>this model has no class &apos;{name}&apos;: did you mean one of {similar}?</source>
        <translation>dieses Modell hat keine Klasse „{name}“: meinten Sie eine von {similar}?</translation>
    </message>
    <message>
        <source>this model has no class &apos;{name}&apos;: did you mean {similar}?</source>
        <translation>dieses Modell hat keine Klasse „{name}“: meinten Sie {similar}?</translation>
    </message>
    <message>
        <source>this user may not use /dev/nvidia*: check its groups, or how the container was started</source>
        <translation>dieser Benutzer darf /dev/nvidia* nicht verwenden: seine Gruppen prüfen, oder wie der Container gestartet wurde</translation>
    </message>
    <message>
        <source>through host memory</source>
        <translation>über den Hauptspeicher</translation>
    </message>
    <message>
        <source>tiles of about the network&apos;s size</source>
        <translation>Kacheln von etwa der Größe des Netzes</translation>
    </message>
    <message>
        <source>trying {precision}</source>
        <translation>{precision} wird erprobt</translation>
    </message>
    <message>
        <source>waiting for the earlier engine to end</source>
        <translation>wartet auf das Ende der früheren Engine</translation>
    </message>
    <message>
        <source>{device} is a group of devices: add each device separately</source>
        <translation>{device} ist eine Gruppe von Geräten: jedes Gerät einzeln hinzufügen</translation>
    </message>
    <message>
        <source>{device} is the last device, and there is work left: add another device first, or cancel the work</source>
        <translation>{device} ist das letzte Gerät, und es gibt noch Arbeit: erst ein anderes hinzufügen, oder die Arbeit abbrechen</translation>
    </message>
    <message>
        <source>{device} takes part already</source>
        <translation>{device} nimmt schon teil</translation>
    </message>
    <message>
        <source>{library} cannot be used ({problem})</source>
        <translation>{library} kann nicht verwendet werden ({problem})</translation>
    </message>
    <message>
        <source>{library} cannot build {name} for this device; its messages above say why</source>
        <translation>{library} kann {name} für dieses Gerät nicht bauen; die Meldungen davor nennen den Grund</translation>
    </message>
    <message>
        <source>{library} cannot build {name}: {problem}</source>
        <translation>{library} kann {name} nicht bauen: {problem}</translation>
    </message>
    <message>
        <source>{library} cannot compute {problem}</source>
        <translation>{library} kann dies nicht berechnen: {problem}</translation>
    </message>
    <message>
        <source>{library} cannot load a plan: {problem}</source>
        <translation>{library} kann einen Plan nicht laden: {problem}</translation>
    </message>
    <message>
        <source>{library} cannot load the plan; its messages above say why</source>
        <translation>{library} kann den Plan nicht laden; die Meldungen davor nennen den Grund</translation>
    </message>
    <message>
        <source>{library} cannot prepare the plan for this device; its messages above say why</source>
        <translation>{library} kann den Plan für dieses Gerät nicht vorbereiten; die Meldungen davor nennen den Grund</translation>
    </message>
    <message>
        <source>{library} cannot run the plan; its messages above say why</source>
        <translation>{library} kann den Plan nicht ausführen; die Meldungen davor nennen den Grund</translation>
    </message>
    <message>
        <source>{library} cannot use the device: {problem}</source>
        <translation>{library} kann das Gerät nicht verwenden: {problem}</translation>
    </message>
    <message>
        <source>{library} does not support {shape}: {problem}</source>
        <translation>{library} unterstützt {shape} nicht: {problem}</translation>
    </message>
    <message>
        <source>{library} offers no plan for {shape}</source>
        <translation>{library} bietet keinen Plan für {shape}</translation>
    </message>
    <message>
        <source>{module} is not installed</source>
        <translation>{module} ist nicht installiert</translation>
    </message>
    <message>
        <source>{name} at batch {batch} is beyond what the CUDA layers can do: {problem}</source>
        <translation>{name} mit Batch {batch} übersteigt, was die CUDA-Schichten können: {problem}</translation>
    </message>
    <message>
        <source>{name} did not end</source>
        <translation>{name} endete nicht</translation>
    </message>
    <message>
        <source>{name} ended unexpectedly with status {exit_code}</source>
        <translation>{name} endete unerwartet mit Status {exit_code}</translation>
    </message>
    <message>
        <source>{name} finds no free name in {folder}: choose another folder</source>
        <translation>{name} findet keinen freien Namen in {folder}: einen anderen Ordner wählen</translation>
    </message>
    <message>
        <source>{name} in a layer of its own</source>
        <translation>{name} in einer eigenen Schicht</translation>
    </message>
    <message>
        <source>{name} takes pictures of {channels} channels; videos have 3</source>
        <translation>{name} nimmt Bilder mit {channels} Kanälen; Videos haben 3</translation>
    </message>
    <message>
        <source>{name} was killed (SIGKILL), by a user or by the system because memory ran out</source>
        <translation>{name} wurde getötet (SIGKILL), von einem Benutzer oder vom System, weil der Speicher ausging</translation>
    </message>
    <message>
        <source>{path} does not exist: check the name and the folder</source>
        <translation>{path} existiert nicht: den Namen und den Ordner prüfen</translation>
    </message>
    <message>
        <source>{path} has changed since an earlier run: it is detected again</source>
        <translation>{path} hat sich seit einem früheren Lauf geändert: Die Datei wird erneut analysiert</translation>
    </message>
    <message>
        <source>{path} has no frame from which a clip can begin: repair the file</source>
        <translation>{path} hat kein Bild, mit dem ein Clip beginnen kann: die Datei reparieren</translation>
    </message>
    <message>
        <source>{path} has no video track: sound alone cannot be searched for objects</source>
        <translation>{path} hat keine Videospur: in Ton allein lassen sich keine Objekte suchen</translation>
    </message>
    <message>
        <source>{path} is a playlist or a text, not a video: give the videos themselves</source>
        <translation>{path} ist eine Wiedergabeliste oder ein Text, kein Video: die Videos selbst angeben</translation>
    </message>
    <message>
        <source>{path} is empty: nothing was written to it, or a download did not finish</source>
        <translation>{path} ist leer: es wurde nichts hineingeschrieben, oder ein Herunterladen wurde nicht fertig</translation>
    </message>
    <message>
        <source>{path} is not a picture that can be read: it is damaged, unfinished or of another kind</source>
        <translation>{path} ist kein lesbares Bild: beschädigt, unfertig oder von anderer Art</translation>
    </message>
    <message>
        <source>{path} is not a video that can be decoded ({cause}): it is damaged, unfinished or of another kind</source>
        <translation>{path} ist kein dekodierbares Video ({cause}): beschädigt, unfertig oder von anderer Art</translation>
    </message>
    <message>
        <source>CUDA failed to {doing}: {text}</source>
        <translation>CUDA scheiterte am Schritt „{doing}“: {text}</translation>
    </message>
    <message>
        <source>&apos;{address}&apos; is not the address of a web server, which begins with https:// or http://: check FRAMEFLEET_MODELS_URL</source>
        <translation>„{address}“ ist nicht die Adresse eines Webservers, die mit https:// oder http:// beginnt: FRAMEFLEET_MODELS_URL prüfen</translation>
    </message>
    <message>
        <source>&apos;{name}&apos; is neither a file nor a model to download; {others}</source>
        <translation>„{name}“ ist weder eine Datei noch ein Modell zum Herunterladen; {others}</translation>
    </message>
    <message>
        <source>&apos;{text}&apos; cannot be used: give a time or a number of frames above 0</source>
        <translation>„{text}“ ist nicht brauchbar: eine Zeit oder eine Zahl von Bildern über 0 angeben</translation>
    </message>
    <message>
        <source>&apos;{text}&apos; cannot be used: give a time such as 90s or 1:02.5, or a number of frames such as 2700</source>
        <translation>„{text}“ ist nicht brauchbar: eine Zeit wie 90s oder 1:02.5 oder eine Zahl von Bildern wie 2700 angeben</translation>
    </message>
    <message>
        <source>&apos;{text}&apos; cannot be used: give a whole number from 0</source>
        <translation>„{text}“ ist nicht brauchbar: eine ganze Zahl ab 0 angeben</translation>
    </message>
    <message>
        <source>&apos;{text}&apos; cannot be used: give {wanted}</source>
        <translation>„{text}“ ist nicht brauchbar: {wanted} angeben</translation>
    </message>
    <message>
        <source>&apos;{text}&apos; is not a device: write cpu:0, cuda:0 or openvino:GPU.0 (&apos;framefleet devices&apos; lists yours)</source>
        <translation>„{text}“ ist kein Gerät: cpu:0, cuda:0 oder openvino:GPU.0 schreiben („framefleet devices“ listet Ihre)</translation>
    </message>
    <message>
        <source>&apos;{text}&apos; is not a distance between frames: write a number of frames, such as 10, or a time, such as 1s</source>
        <translation>„{text}“ ist kein Abstand zwischen Bildern: eine Zahl von Bildern schreiben, etwa 10, oder eine Zeit, etwa 1s</translation>
    </message>
    <message>
        <source>&apos;{text}&apos; is not a format of pictures: write {formats} or none</source>
        <translation>&apos;{text}&apos; ist kein Bildformat: {formats} oder none angeben</translation>
    </message>
    <message>
        <source>&apos;{text}&apos; is not a known time zone: write its name, such as UTC or Europe/Berlin</source>
        <translation>„{text}“ ist keine bekannte Zeitzone: ihren Namen schreiben, wie UTC oder Europe/Berlin</translation>
    </message>
    <message>
        <source>&apos;{text}&apos; is not a length: write a number of frames, such as 10, or a time, such as 1s</source>
        <translation>„{text}“ ist keine Länge: eine Zahl von Bildern schreiben, etwa 10, oder eine Zeit, etwa 1s</translation>
    </message>
    <message>
        <source>&apos;{text}&apos; is not a list of what to draw: choose from {parts}</source>
        <translation>„{text}“ ist keine Liste dessen, was gezeichnet wird: aus {parts} wählen</translation>
    </message>
    <message>
        <source>&apos;{text}&apos; is not a range of confidences: write two numbers from 0 to 1, the lower one first, such as 0.3,0.6</source>
        <translation>„{text}“ ist kein Bereich von Konfidenzen: zwei Zahlen von 0 bis 1 schreiben, die kleinere zuerst, etwa 0.3,0.6</translation>
    </message>
    <message>
        <source>&apos;{text}&apos; is not a rule for alerts: &apos;{part}&apos; is not understood; write {keys} as in class=person, count=2, for=3s</source>
        <translation>„{text}“ ist keine Regel für Alarme: „{part}“ ist nicht verständlich; {keys} schreiben wie in class=person, count=2, for=3s</translation>
    </message>
    <message>
        <source>&apos;{text}&apos; is not a time: write 30s, 15m or 1h</source>
        <translation>„{text}“ ist keine Zeit: 30s, 15m oder 1h schreiben</translation>
    </message>
    <message>
        <source>&apos;{text}&apos; is not a time: write name, metadata, or when the file began, such as &quot;2026-11-01 08:00&quot;</source>
        <translation>„{text}“ ist keine Zeit: name, metadata oder den Beginn der Datei schreiben, wie &quot;2026-11-01 08:00&quot;</translation>
    </message>
    <message>
        <source>&apos;{text}&apos; is unknown; choose from: {available}</source>
        <translation>„{text}“ ist unbekannt; wählen aus: {available}</translation>
    </message>
    <message>
        <source>&apos;{text}&apos; maps no labels: write label=category with commas between, such as dog=animal,car=vehicle</source>
        <translation>„{text}“ ordnet keine Labels zu: Label=Kategorie mit Kommas dazwischen schreiben, etwa dog=animal,car=vehicle</translation>
    </message>
    <message>
        <source>&apos;{text}&apos; names no device: write auto, or cpu:0, cuda:0 … (&apos;framefleet devices&apos; lists yours)</source>
        <translation>„{text}“ nennt kein Gerät: auto oder cpu:0, cuda:0 … schreiben („framefleet devices“ listet Ihre)</translation>
    </message>
    <message>
        <source>&apos;{text}&apos; names nothing: give at least one, or leave the option out</source>
        <translation>„{text}“ nennt nichts: mindestens eines angeben, oder die Option weglassen</translation>
    </message>
    <message>
        <source>&apos;{text}&apos;: write the devices with commas, {better}; {option} says how they work together</source>
        <translation>„{text}“: die Geräte mit Kommas schreiben, {better}; {option} sagt, wie sie zusammenarbeiten</translation>
    </message>
    <message>
        <source>&apos;{weights}&apos; does not name random weights: write random:SEED with an integer, such as random:1</source>
        <translation>„{weights}“ nennt keine Zufallsgewichte: random:SEED mit einer ganzen Zahl schreiben, etwa random:1</translation>
    </message>
    <message>
        <source>--format parquet needs pyarrow: install framefleet[parquet], or pyarrow</source>
        <translation>--format parquet braucht pyarrow: framefleet[parquet] oder pyarrow installieren</translation>
    </message>
    <message>
        <source>CUDA&apos;s headers (cuda_fp16.h) are not found: pip install nvidia-cuda-runtime, or let CUDA_HOME name the folder of a CUDA toolkit</source>
        <translation>die Header von CUDA (cuda_fp16.h) werden nicht gefunden: pip install nvidia-cuda-runtime, oder CUDA_HOME auf den Ordner eines CUDA-Toolkits setzen</translation>
    </message>
    <message>
        <source>It has no effect while the batch is set to {batch}.</source>
        <translation>Ohne Wirkung, solange der Batch auf {batch} eingestellt ist.</translation>
    </message>
    <message>
        <source>JPEGs need nvJPEG ({detail}): install &apos;framefleet[cuda]&apos;</source>
        <translation>JPEGs brauchen nvJPEG ({detail}): &apos;framefleet[cuda]&apos; installieren</translation>
    </message>
    <message>
        <source>MIG mode is on without an instance: &apos;nvidia-smi mig -i {uuid} -cgi PROFILE -C&apos; creates one, &apos;nvidia-smi -i {uuid} -mig 0&apos; turns MIG off (both as administrator)</source>
        <translation>der MIG-Modus ist an, aber ohne Instanz: „nvidia-smi mig -i {uuid} -cgi PROFILE -C“ legt eine an, „nvidia-smi -i {uuid} -mig 0“ schaltet MIG aus (beides als Administrator)</translation>
    </message>
    <message>
        <source>Mish</source>
        <translation>Mish</translation>
    </message>
    <message>
        <source>NVDEC cannot decode {path} ({problem}): use {option}</source>
        <translation>NVDEC kann {path} nicht dekodieren ({problem}): Verwenden Sie {option}</translation>
    </message>
    <message>
        <source>NVDEC is part of NVIDIA&apos;s GPUs, and none is among the devices ({devices}): choose one, or let the CPU decode</source>
        <translation>NVDEC ist Teil von NVIDIA-GPUs, und unter den Geräten ist keine ({devices}): eine wählen, oder die CPU dekodieren lassen</translation>
    </message>
    <message>
        <source>NVDEC needs PyNvVideoCodec and an NVIDIA driver with its video libraries ({detail}): install &apos;framefleet[cuda]&apos;, in a container allow the driver&apos;s &apos;video&apos; capability, or use {option}</source>
        <translation>NVDEC braucht PyNvVideoCodec und einen NVIDIA-Treiber mit dessen Videobibliotheken ({detail}): „framefleet[cuda]“ installieren, in einem Container die Fähigkeit „video“ des Treibers erlauben, oder {option} verwenden</translation>
    </message>
    <message>
        <source>NVDEC&apos;s error messages cannot be read on this system ({detail}): use {option}</source>
        <translation>die Fehlermeldungen von NVDEC sind auf diesem System nicht lesbar ({detail}): {option} verwenden</translation>
    </message>
    <message>
        <source>NVDEC&apos;s frames are {width}×{height}, FFmpeg&apos;s {right_width}×{right_height}</source>
        <translation>die Bilder von NVDEC haben {width}×{height}, die von FFmpeg {right_width}×{right_height}</translation>
    </message>
    <message>
        <source>NVIDIA&apos;s driver cannot be asked: {problem}</source>
        <translation>der Treiber von NVIDIA lässt sich nicht abfragen: {problem}</translation>
    </message>
    <message>
        <source>NVRTC cannot compile the CUDA layers for {arch}: {problem}</source>
        <translation>NVRTC kann die CUDA-Schichten für {arch} nicht übersetzen: {problem}</translation>
    </message>
    <message>
        <source>NVRTC, CUDA&apos;s run-time compiler, cannot be loaded ({problem}): pip install nvidia-cuda-nvrtc</source>
        <translation>NVRTC, der Laufzeit-Compiler von CUDA, lässt sich nicht laden ({problem}): pip install nvidia-cuda-nvrtc</translation>
    </message>
    <message>
        <source>OpenVINO cannot build {name} in {precision}: {problem}</source>
        <translation>OpenVINO kann {name} in {precision} nicht bauen: {problem}</translation>
    </message>
    <message>
        <source>OpenVINO finds no device {name} (it has: {available})</source>
        <translation>OpenVINO findet kein Gerät {name} (vorhanden: {available})</translation>
    </message>
    <message>
        <source>Several sources have a picture &apos;{picture}&apos;: write the folder in front of the name, as in &apos;folder/clip.mp4#12&apos; for a frame of a video</source>
        <translation>Mehrere Quellen haben ein Bild „{picture}“: Schreiben Sie den Ordner vor den Namen, wie in „folder/clip.mp4#12“ für ein Bild eines Videos</translation>
    </message>
    <message>
        <source>Several sources have a picture &apos;{picture}&apos;: write the folder in front of the name, as in &apos;{example}&apos;</source>
        <translation>Mehrere Quellen haben ein Bild „{picture}“: Schreiben Sie den Ordner vor den Namen, wie in „{example}“</translation>
    </message>
    <message>
        <source>YOLOX with decoded boxes; blue, green, red</source>
        <translation>YOLOX mit dekodierten Rahmen; Blau, Grün, Rot</translation>
    </message>
    <message>
        <source>YOLOX without decoded boxes; blue, green, red</source>
        <translation>YOLOX ohne dekodierte Rahmen; Blau, Grün, Rot</translation>
    </message>
    <message>
        <source>a Darknet cfg begins with [net]</source>
        <translation>eine Darknet-cfg beginnt mit [net]</translation>
    </message>
    <message>
        <source>a box must have at least one pixel inside the picture of {width} × {height} pixels</source>
        <translation>ein Rahmen muss mindestens ein Pixel im Bild von {width} × {height} Pixeln haben</translation>
    </message>
    <message>
        <source>a column for each box: centre, size, class scores; as YOLOv8, 9, 11 and 12</source>
        <translation>eine Spalte je Rahmen: Mitte, Größe, Werte der Klassen; wie YOLOv8, 9, 11 und 12</translation>
    </message>
    <message>
        <source>a device is named twice: {devices}</source>
        <translation>ein Gerät ist zweimal genannt: {devices}</translation>
    </message>
    <message>
        <source>a file may have {limit:,} KiB here: raise the limit (ulimit -f), or write less</source>
        <translation>eine Datei darf hier {limit:,} KiB haben: die Grenze erhöhen (ulimit -f), oder weniger schreiben</translation>
    </message>
    <message>
        <source>a frame of {size} MiB does not fit into the {limit} MiB for decoded frames</source>
        <translation>ein Bild von {size} MiB passt nicht in die {limit} MiB für dekodierte Bilder</translation>
    </message>
    <message>
        <source>a frame of {width}×{height}: at most {limit}×{limit} can be used</source>
        <translation>ein Bild von {width}×{height}: höchstens {limit}×{limit} sind möglich</translation>
    </message>
    <message>
        <source>a keyframe has arrived</source>
        <translation>ein Schlüsselbild ist angekommen</translation>
    </message>
    <message>
        <source>a newer frame was there before the device was free</source>
        <translation>ein neueres Bild war da, bevor das Gerät frei war</translation>
    </message>
    <message>
        <source>a number of {unit} {limits}</source>
        <translation>eine Zahl von {unit} {limits}</translation>
    </message>
    <message>
        <source>a number {limits}</source>
        <translation>eine Zahl {limits}</translation>
    </message>
    <message>
        <source>a picture cannot be encoded as {suffix}</source>
        <translation>ein Bild lässt sich nicht als {suffix} kodieren</translation>
    </message>
    <message>
        <source>a row for each box: centre, size, objectness, class scores; as YOLOv5, 6 and 7</source>
        <translation>eine Zeile je Rahmen: Mitte, Größe, Objektwert, Werte der Klassen; wie YOLOv5, 6 und 7</translation>
    </message>
    <message>
        <source>a row for each object: centre and size as fractions, class scores; as RT-DETR of ultralytics</source>
        <translation>eine Zeile je Objekt: Mitte und Größe als Anteile, Werte der Klassen; wie RT-DETR von ultralytics</translation>
    </message>
    <message>
        <source>a row for each object: corners, score, class; as YOLOv10 and 26, or after suppression</source>
        <translation>eine Zeile je Objekt: Ecken, Wert, Klasse; wie YOLOv10 und 26, oder nach der Unterdrückung</translation>
    </message>
    <message>
        <source>a row for each object: picture, corners, class, score; as YOLOv7 after suppression</source>
        <translation>eine Zeile je Objekt: Bild, Ecken, Klasse, Wert; wie YOLOv7 nach der Unterdrückung</translation>
    </message>
    <message>
        <source>a variance needs at least 2 repetitions, not {repetitions}</source>
        <translation>eine Varianz braucht mindestens 2 Wiederholungen, nicht {repetitions}</translation>
    </message>
    <message>
        <source>a whole number {limits}</source>
        <translation>eine ganze Zahl {limits}</translation>
    </message>
    <message>
        <source>above {least:g} and at most {most:g}</source>
        <translation>über {least:g} und höchstens {most:g}</translation>
    </message>
    <message>
        <source>activation={name} is unknown or not supported; supported are {supported}</source>
        <translation>activation={name} ist unbekannt oder nicht unterstützt; unterstützt sind {supported}</translation>
    </message>
    <message>
        <source>adds layer {index} of {shape} to {other}: width and height must be equal</source>
        <translation>addiert Schicht {index} mit {shape} zu {other}: Breite und Höhe müssen gleich sein</translation>
    </message>
    <message>
        <source>alert: {count} × {labels}</source>
        <translation>Alarm: {count} × {labels}</translation>
    </message>
    <message>
        <source>all is detected again: {reasons}; the earlier results are kept in {kept}</source>
        <translation>alles wird erneut erkannt: {reasons}; die früheren Ergebnisse bleiben in {kept}</translation>
    </message>
    <message>
        <source>an ONNX model cannot be cut into stages: use {option}</source>
        <translation>ein ONNX-Modell lässt sich nicht in Stufen zerlegen: Verwenden Sie {option}</translation>
    </message>
    <message>
        <source>anchors= has {numbers} numbers, but they come in pairs of width and height</source>
        <translation>anchors= hat {numbers} Zahlen, sie gehören aber paarweise zu Breite und Höhe</translation>
    </message>
    <message>
        <source>another device goes on</source>
        <translation>ein anderes Gerät macht weiter</translation>
    </message>
    <message>
        <source>as in the part of the run that is stored</source>
        <translation>wie im gespeicherten Teil des Laufs</translation>
    </message>
    <message>
        <source>as the settings say: {tiles}</source>
        <translation>wie in den Einstellungen: {tiles}</translation>
    </message>
    <message>
        <source>asking the driver</source>
        <translation>die Anfrage an den Treiber</translation>
    </message>
    <message>
        <source>at most {most} boxes of a picture: the network gives no more</source>
        <translation>höchstens {most} Boxen eines Bildes: Mehr gibt das Netz nicht aus</translation>
    </message>
    <message>
        <source>attempt {attempt} begins</source>
        <translation>Versuch {attempt} beginnt</translation>
    </message>
    <message>
        <source>auto or {number}</source>
        <translation>auto oder {number}</translation>
    </message>
    <message>
        <source>automatic</source>
        <translation>automatisch</translation>
    </message>
    <message>
        <source>batch {batch}</source>
        <translation>Batch {batch}</translation>
    </message>
    <message>
        <source>batch {batch}: {why}</source>
        <translation>Batch {batch}: {why}</translation>
    </message>
    <message>
        <source>boxes and logits; colours from 0 to 1, as RT-DETR of transformers</source>
        <translation>Rahmen und Logits; Farben von 0 bis 1, wie RT-DETR von transformers</translation>
    </message>
    <message>
        <source>boxes and logits; colours normalised as in ImageNet, as RF-DETR</source>
        <translation>Rahmen und Logits; Farben normiert wie in ImageNet, wie RF-DETR</translation>
    </message>
    <message>
        <source>build {name}</source>
        <translation>{name} bauen</translation>
    </message>
    <message>
        <source>camera {number} cannot be opened ({detail})</source>
        <translation>Kamera {number} kann nicht geöffnet werden ({detail})</translation>
    </message>
    <message>
        <source>cancelled</source>
        <translation>abgebrochen</translation>
    </message>
    <message>
        <source>cannot create {path}: {value}</source>
        <translation>{path} lässt sich nicht anlegen: {value}</translation>
    </message>
    <message>
        <source>cannot make {path}: {value}</source>
        <translation>{path} lässt sich nicht anlegen: {value}</translation>
    </message>
    <message>
        <source>cannot open {path}: a checksum does not match in {what}. The file is damaged: move it away or delete it, and run the detection again</source>
        <translation>{path} lässt sich nicht öffnen: eine Prüfsumme stimmt nicht in {what}. Die Datei ist beschädigt: verschieben oder löschen, und neu erkennen</translation>
    </message>
    <message>
        <source>cannot open {path}: a newer Framefleet wrote it (format {format}, this one reads {known}): update Framefleet</source>
        <translation>{path} lässt sich nicht öffnen: ein neueres Framefleet hat die Datei geschrieben (Format {format}, dieses liest {known}): Framefleet aktualisieren</translation>
    </message>
    <message>
        <source>cannot open {path}: a test version of Framefleet wrote it (format {format}, this one reads {known}): run the detection again</source>
        <translation>{path} lässt sich nicht öffnen: eine Testversion von Framefleet hat die Datei geschrieben (Format {format}, dieses liest {known}): neu erkennen</translation>
    </message>
    <message>
        <source>cannot open {path}: it holds the {kind} {name}, which no session has: another program made or changed it</source>
        <translation>{path} lässt sich nicht öffnen: darin ist {kind} {name}, was keine Sitzung hat: ein anderes Programm hat die Datei erzeugt oder verändert</translation>
    </message>
    <message>
        <source>cannot open {path}: it is not a session database: choose another name, or move the file away</source>
        <translation>{path} lässt sich nicht öffnen: es ist keine Sitzungsdatenbank: einen anderen Namen wählen, oder die Datei verschieben</translation>
    </message>
    <message>
        <source>cannot open {path}: the {kind} {name} of a session is missing or differs: another program made or changed it</source>
        <translation>{path} lässt sich nicht öffnen: {kind} {name} einer Sitzung fehlt oder weicht ab: ein anderes Programm hat die Datei erzeugt oder verändert</translation>
    </message>
    <message>
        <source>cannot read {path}: another run has replaced it in the meantime: open it again</source>
        <translation>{path} ist nicht lesbar: ein anderer Lauf hat die Datei inzwischen ersetzt: erneut öffnen</translation>
    </message>
    <message>
        <source>cannot read {path}: {where} holds {value}, which no run writes: the file is damaged, or another program made or changed it</source>
        <translation>{path} ist nicht lesbar: {where} enthält {value}, was kein Lauf schreibt: die Datei ist beschädigt, oder ein anderes Programm hat sie erzeugt oder verändert</translation>
    </message>
    <message>
        <source>cannot write {path}: {value}</source>
        <translation>{path} lässt sich nicht schreiben: {value}</translation>
    </message>
    <message>
        <source>channels={channels} is not supported: pictures have 3 channels, red, green and blue</source>
        <translation>channels={channels} ist nicht unterstützt: Bilder haben 3 Kanäle, Rot, Grün und Blau</translation>
    </message>
    <message>
        <source>class id {name}: this model has {classes} classes, 0 to {last}</source>
        <translation>Klassennummer {name}: Dieses Modell hat {classes} Klassen, 0 bis {last}</translation>
    </message>
    <message>
        <source>classes, corners and scores; as D-FINE, DEIM and RT-DETR</source>
        <translation>Klassen, Ecken und Werte; wie D-FINE, DEIM und RT-DETR</translation>
    </message>
    <message>
        <source>classes={classes}, but [yolo] (layer {index}) has {other}: all heads must agree</source>
        <translation>classes={classes}, aber [yolo] (Schicht {index}) hat {other}: alle Ausgaben müssen übereinstimmen</translation>
    </message>
    <message>
        <source>classification of whole pictures</source>
        <translation>die Klassifikation ganzer Bilder</translation>
    </message>
    <message>
        <source>coords= must be 4: other coordinates are not supported</source>
        <translation>coords= muss 4 sein: andere Koordinaten sind nicht unterstützt</translation>
    </message>
    <message>
        <source>corners and class scores before suppression; as YOLO-NAS and PP-YOLOE</source>
        <translation>Ecken und Werte der Klassen vor der Unterdrückung; wie YOLO-NAS und PP-YOLOE</translation>
    </message>
    <message>
        <source>corners as fractions, and class scores; as YOLOv4 of PyTorch</source>
        <translation>Ecken als Bruchteile und Werte der Klassen; wie YOLOv4 von PyTorch</translation>
    </message>
    <message>
        <source>cuda-python is not installed ({problem}): {advice}</source>
        <translation>cuda-python ist nicht installiert ({problem}): {advice}</translation>
    </message>
    <message>
        <source>damaged, or dependent on a damaged frame</source>
        <translation>beschädigt oder von einem beschädigten Bild abhängig</translation>
    </message>
    <message>
        <source>decoded by the GPU</source>
        <translation>von der GPU dekodiert</translation>
    </message>
    <message>
        <source>decoded by the GPU, {cpu} of {frames} frames by the CPU</source>
        <translation>von der GPU dekodiert, {cpu} von {frames} Bildern von der CPU</translation>
    </message>
    <message>
        <source>decoding a frame of {address}</source>
        <translation>ein Bild von {address} wird dekodiert</translation>
    </message>
    <message>
        <source>detection {place} ({label}, {confidence}) in {where} of {source}</source>
        <translation>Erkennung {place} ({label}, {confidence}) in {where} von {source}</translation>
    </message>
    <message>
        <source>detection {place} in frame {frame} of {source}</source>
        <translation>Erkennung {place} in Bild {frame} von {source}</translation>
    </message>
    <message>
        <source>dilation= is not supported: use a model that was trained without it</source>
        <translation>dilation= ist nicht unterstützt: ein Modell verwenden, das ohne trainiert wurde</translation>
    </message>
    <message>
        <source>directly</source>
        <translation>direkt</translation>
    </message>
    <message>
        <source>each live source stays on one device, the one with the least load</source>
        <translation>jede Live-Quelle bleibt auf einem Gerät, dem mit der geringsten Last</translation>
    </message>
    <message>
        <source>estimating how certain the differences are</source>
        <translation>schätzt, wie sicher die Unterschiede sind</translation>
    </message>
    <message>
        <source>filters= of the layer before it, mask= or classes=</source>
        <translation>filters= der Schicht davor, mask= oder classes=</translation>
    </message>
    <message>
        <source>filters= of the layer before it, num= or classes=</source>
        <translation>filters= der Schicht davor, num= oder classes=</translation>
    </message>
    <message>
        <source>frame {frame}</source>
        <translation>Bild {frame}</translation>
    </message>
    <message>
        <source>frame {frame} of {source} has no results: choose a frame in which the model looked for objects</source>
        <translation>Bild {frame} von {source} hat keine Ergebnisse: ein Bild wählen, in dem das Modell nach Objekten gesucht hat</translation>
    </message>
    <message>
        <source>frame {number}</source>
        <translation>Bild {number}</translation>
    </message>
    <message>
        <source>frames {first} to {last}</source>
        <translation>Bilder {first} bis {last}</translation>
    </message>
    <message>
        <source>from {least:g} to {most:g}</source>
        <translation>von {least:g} bis {most:g}</translation>
    </message>
    <message>
        <source>from= names {count} layer, but [{section}] takes one</source>
        <translation>from= nennt {count} Schicht, aber [{section}] nimmt eine</translation>
    </message>
    <message>
        <source>from= names {count} layers, but [{section}] takes one</source>
        <translation>from= nennt {count} Schichten, aber [{section}] nimmt eine</translation>
    </message>
    <message>
        <source>give --zones FILE</source>
        <translation>--zones DATEI angeben</translation>
    </message>
    <message>
        <source>give two or more different tracks to join</source>
        <translation>zwei oder mehr verschiedene Spuren zum Verbinden angeben</translation>
    </message>
    <message>
        <source>groups={groups} does not divide the {channels} channels of layer {index}</source>
        <translation>groups={groups} teilt die {channels} Kanäle der Schicht {index} nicht</translation>
    </message>
    <message>
        <source>groups={groups} must divide the {channels} channels of the input and filters={filters}</source>
        <translation>groups={groups} muss die {channels} Kanäle der Eingabe und filters={filters} teilen</translation>
    </message>
    <message>
        <source>heads of a Darknet network, written by &apos;framefleet export&apos;</source>
        <translation>Köpfe eines Darknet-Netzes, geschrieben von „framefleet export“</translation>
    </message>
    <message>
        <source>inference failed in OpenVINO: {problem}</source>
        <translation>die Inferenz schlug in OpenVINO fehl: {problem}</translation>
    </message>
    <message>
        <source>inference failed: the engine gave {found} results for {wanted} pictures</source>
        <translation>die Inferenz schlug fehl: die Engine gab {found} Ergebnisse für {wanted} Bilder</translation>
    </message>
    <message>
        <source>it cannot be loaded ({problem}): {advice}</source>
        <translation>es kann nicht geladen werden ({problem}): {advice}</translation>
    </message>
    <message>
        <source>it crashed (signal {signal})</source>
        <translation>Absturz (Signal {signal})</translation>
    </message>
    <message>
        <source>it ends too early: it was probably cut off</source>
        <translation>sie endet zu früh: wahrscheinlich wurde sie abgeschnitten</translation>
    </message>
    <message>
        <source>it gave no answer within {timeout:g} s</source>
        <translation>keine Antwort in {timeout:g} s</translation>
    </message>
    <message>
        <source>it has more or longer parts than a detector has</source>
        <translation>sie hat mehr oder längere Teile, als ein Detektor hat</translation>
    </message>
    <message>
        <source>it has no graph</source>
        <translation>sie enthält keinen Graphen</translation>
    </message>
    <message>
        <source>it has {layers} layers and {parameters:,} parameters, {name} has {wanted} and {wanted_parameters:,}</source>
        <translation>es hat {layers} Schichten und {parameters:,} Parameter, {name} hat {wanted} und {wanted_parameters:,}</translation>
    </message>
    <message>
        <source>it is JSON, but has no list &apos;gpus&apos;</source>
        <translation>sie ist JSON, hat aber keine Liste „gpus“</translation>
    </message>
    <message>
        <source>it is damaged, or a file of another kind</source>
        <translation>sie ist beschädigt oder von anderer Art</translation>
    </message>
    <message>
        <source>it is empty</source>
        <translation>sie ist leer</translation>
    </message>
    <message>
        <source>it is incomplete: copy or download it again</source>
        <translation>sie ist unvollständig: Kopieren oder laden Sie sie erneut</translation>
    </message>
    <message>
        <source>it is not text</source>
        <translation>sie ist kein Text</translation>
    </message>
    <message>
        <source>it refuses the connection</source>
        <translation>die Verbindung wird abgelehnt</translation>
    </message>
    <message>
        <source>it was written by &apos;framefleet topology --json&apos;, which holds less</source>
        <translation>sie stammt von „framefleet topology --json“ und enthält weniger</translation>
    </message>
    <message>
        <source>its JSON cannot be read</source>
        <translation>ihr JSON ist nicht lesbar</translation>
    </message>
    <message>
        <source>its JSON is wrong in line {line}</source>
        <translation>ihr JSON ist in Zeile {line} falsch</translation>
    </message>
    <message>
        <source>its SHA-256 is not {digest}. It was damaged on its way or replaced on the server, and is deleted: try again, or use a .cfg and .weights of your own</source>
        <translation>die SHA-256-Summe ist nicht {digest}. Die Datei wurde unterwegs beschädigt oder auf dem Server ersetzt und ist gelöscht: noch einmal versuchen, oder eigene .cfg und .weights verwenden</translation>
    </message>
    <message>
        <source>its agent does not start: {line}</source>
        <translation>sein Agent startet nicht: {line}</translation>
    </message>
    <message>
        <source>its certificate is not trusted</source>
        <translation>dem Zertifikat wird nicht vertraut</translation>
    </message>
    <message>
        <source>its codec is {codec}; NVDEC is used for {codecs}</source>
        <translation>der Codec ist {codec}; NVDEC wird für {codecs} verwendet</translation>
    </message>
    <message>
        <source>its compute mode is Prohibited: &apos;nvidia-smi -i {uuid} -c DEFAULT&apos;, as administrator, allows it</source>
        <translation>der Compute-Modus ist Prohibited: „nvidia-smi -i {uuid} -c DEFAULT“ erlaubt es, als Administrator</translation>
    </message>
    <message>
        <source>its decoder cannot be opened: {detail}</source>
        <translation>der Decoder lässt sich nicht öffnen: {detail}</translation>
    </message>
    <message>
        <source>its driver {driver} supports CUDA {supported}, {needed} is needed: install driver {needed_driver} or newer</source>
        <translation>der Treiber {driver} unterstützt CUDA {supported}, nötig ist {needed}: Treiber {needed_driver} oder neuer installieren</translation>
    </message>
    <message>
        <source>its frames are {width}×{height}; this GPU&apos;s NVDEC decodes {codec} from {min_width}×{min_height} to {max_width}×{max_height}</source>
        <translation>die Bilder haben {width}×{height}; NVDEC dieser GPU dekodiert {codec} von {min_width}×{min_height} bis {max_width}×{max_height}</translation>
    </message>
    <message>
        <source>its fused convolutions need compute capability {capability} or newer</source>
        <translation>die verschmolzenen Faltungen brauchen Compute Capability {capability} oder neuer</translation>
    </message>
    <message>
        <source>its input has {channels} channels, but {anchors} anchors · (5 + {classes} classes) = {needed}: correct {correct}</source>
        <translation>die Eingabe hat {channels} Kanäle, aber {anchors} Anker · (5 + {classes} Klassen) = {needed}: {correct} berichtigen</translation>
    </message>
    <message>
        <source>its libraries are not installed: {problem}</source>
        <translation>die Bibliotheken dafür sind nicht installiert: {problem}</translation>
    </message>
    <message>
        <source>its memory is limited to {limit:,} MB, which may be the cause: raise the limit (ulimit -v)</source>
        <translation>der Speicher ist auf {limit:,} MB begrenzt, was die Ursache sein kann: die Grenze anheben (ulimit -v)</translation>
    </message>
    <message>
        <source>its name is unknown here</source>
        <translation>der Name ist hier unbekannt</translation>
    </message>
    <message>
        <source>its packets do not show how many frames it has</source>
        <translation>die Pakete zeigen nicht, wie viele Bilder es hat</translation>
    </message>
    <message>
        <source>its pixel format is {format}; NVDEC is used for {formats}</source>
        <translation>das Pixelformat ist {format}; NVDEC wird für {formats} verwendet</translation>
    </message>
    <message>
        <source>its tiles cannot be merged: {problem}</source>
        <translation>die Kacheln lassen sich nicht zusammenfügen: {problem}</translation>
    </message>
    <message>
        <source>joins layer {first} of {first_shape} and layer {index} of {shape}: width and height must be equal</source>
        <translation>verbindet Schicht {first} mit {first_shape} und Schicht {index} mit {shape}: Breite und Höhe müssen gleich sein</translation>
    </message>
    <message>
        <source>layer type [{name}] is unknown or not supported; supported are {supported}</source>
        <translation>Schichtart [{name}] ist unbekannt oder nicht unterstützt; unterstützt sind {supported}</translation>
    </message>
    <message>
        <source>layer {index} ({kind})</source>
        <translation>Schicht {index} ({kind})</translation>
    </message>
    <message>
        <source>layer {index}: {channels} channels, which is not a multiple of {unit}</source>
        <translation>Schicht {index}: {channels} Kanäle, kein Vielfaches von {unit}</translation>
    </message>
    <message>
        <source>licence, as the file says: {licence}</source>
        <translation>Lizenz laut Datei: {licence}</translation>
    </message>
    <message>
        <source>matching {name}</source>
        <translation>ordnet {name} zu</translation>
    </message>
    <message>
        <source>megadetector: {count:,} detections of classes without a category are left out ({labels}); {option} chooses the category of each class</source>
        <translation>megadetector: {count:,} Erkennungen von Klassen ohne Kategorie fehlen ({labels}); {option} wählt die Kategorie jeder Klasse</translation>
    </message>
    <message>
        <source>megadetector: {count} detection of a class without a category is left out ({labels}); {option} chooses the category of each class</source>
        <translation>megadetector: {count} Erkennung einer Klasse ohne Kategorie fehlt ({labels}); {option} wählt die Kategorie jeder Klasse</translation>
    </message>
    <message>
        <source>models to download: {names}</source>
        <translation>Modelle zum Herunterladen: {names}</translation>
    </message>
    <message>
        <source>more than {most:,} boxes reach the confidence threshold: check the weights, or raise {option}</source>
        <translation>mehr als {most:,} Rahmen erreichen die Konfidenzschwelle: die Gewichte prüfen, oder {option} erhöhen</translation>
    </message>
    <message>
        <source>multiplies layer {source} of {shape} by {other}: the sizes must be equal</source>
        <translation>multipliziert Schicht {source} mit {shape} und {other}: die Größen müssen gleich sein</translation>
    </message>
    <message>
        <source>network size {width}×{height}: both must be multiples of 32, from 32 to {most}</source>
        <translation>Netzgröße {width}×{height}: beide müssen Vielfache von 32 sein, von 32 bis {most}</translation>
    </message>
    <message>
        <source>new_coords=1 expects values from 0 to 1, but the layer before it has activation=linear: networks of this kind are trained with activation=logistic there</source>
        <translation>new_coords=1 erwartet Werte von 0 bis 1, aber die Schicht davor hat activation=linear: solche Netze werden dort mit activation=logistic trainiert</translation>
    </message>
    <message>
        <source>no NVIDIA GPU or driver here; use cpu:0</source>
        <translation>hier gibt es keine NVIDIA-GPU oder keinen Treiber; cpu:0 verwenden</translation>
    </message>
    <message>
        <source>no NVIDIA driver answers ({problem}); &apos;framefleet doctor&apos; says what is missing</source>
        <translation>kein NVIDIA-Treiber antwortet ({problem}); „framefleet doctor“ nennt, was fehlt</translation>
    </message>
    <message>
        <source>no TensorRT for compute capability {capability} ({reasons}): {advice}</source>
        <translation>kein TensorRT für Compute Capability {capability} ({reasons}): {advice}</translation>
    </message>
    <message>
        <source>no answer in time</source>
        <translation>keine rechtzeitige Antwort</translation>
    </message>
    <message>
        <source>no answer within {seconds:.0f} s</source>
        <translation>keine Antwort innerhalb von {seconds:.0f} s</translation>
    </message>
    <message>
        <source>no class of {path} was looked for in all sessions: its labels are {labels}</source>
        <translation>keine Klasse von {path} wurde in allen Sitzungen gesucht: ihre Labels sind {labels}</translation>
    </message>
    <message>
        <source>no device benchmarks for {devices}: give CPU or CUDA devices, such as cuda:0,cuda:1</source>
        <translation>keine Messung von Geräten für {devices}: CPU- oder CUDA-Geräte angeben, etwa cuda:0,cuda:1</translation>
    </message>
    <message>
        <source>no device could be used: {path} holds the earlier results again</source>
        <translation>kein Gerät war nutzbar: {path} hat wieder die früheren Ergebnisse</translation>
    </message>
    <message>
        <source>no device to measure: give CPU or CUDA devices, such as cuda:0,cuda:1</source>
        <translation>kein Gerät zum Messen: CPU- oder CUDA-Geräte angeben, etwa cuda:0,cuda:1</translation>
    </message>
    <message>
        <source>no device was ready</source>
        <translation>kein Gerät war bereit</translation>
    </message>
    <message>
        <source>no file with labels lies beside the model</source>
        <translation>neben dem Modell liegt keine Datei mit Labels</translation>
    </message>
    <message>
        <source>no frame has arrived for {seconds:.1f} s</source>
        <translation>seit {seconds:.1f} s ist kein Bild angekommen</translation>
    </message>
    <message>
        <source>no frame of {path} can be decoded: there is nothing to draw on</source>
        <translation>kein Bild von {path} ist dekodierbar: es gibt nichts, worauf gezeichnet wird</translation>
    </message>
    <message>
        <source>no lines and zones to count at: give {option}</source>
        <translation>keine Linien und Zonen zum Zählen: {option} angeben</translation>
    </message>
    <message>
        <source>no memory is left on this machine: end other programs, or use fewer devices</source>
        <translation>auf diesem Rechner ist kein Speicher mehr frei: andere Programme beenden, oder weniger Geräte verwenden</translation>
    </message>
    <message>
        <source>no memory is left: a process may use {limit:,} MB here; raise the limit (ulimit -v), or remove it</source>
        <translation>kein Speicher mehr frei: ein Prozess darf hier {limit:,} MB nutzen; die Grenze anheben (ulimit -v) oder aufheben</translation>
    </message>
    <message>
        <source>no more files can be opened: a process may have {limit:,} open here; raise the limit (ulimit -n)</source>
        <translation>es lassen sich keine Dateien mehr öffnen: ein Prozess darf hier {limit:,} offen haben; die Grenze anheben (ulimit -n)</translation>
    </message>
    <message>
        <source>no more threads can be started: raise the limit of processes (ulimit -u) or of memory (ulimit -v)</source>
        <translation>es lassen sich keine Threads mehr starten: die Grenze für Prozesse (ulimit -u) oder für Speicher (ulimit -v) anheben</translation>
    </message>
    <message>
        <source>no secure connection could be made</source>
        <translation>keine sichere Verbindung möglich</translation>
    </message>
    <message>
        <source>no video to measure with: {problem}</source>
        <translation>kein Video zum Messen: {problem}</translation>
    </message>
    <message>
        <source>nobody publishes a SHA-256 of {files}: of {name}, only size and structure can be checked, not who made the files; {option} downloads them all the same</source>
        <translation>niemand veröffentlicht eine SHA-256 von {files}: bei {name} lassen sich nur Größe und Aufbau prüfen, nicht, wer die Dateien gemacht hat; {option} lädt sie trotzdem herunter</translation>
    </message>
    <message>
        <source>node {name} does not answer, and is left out: {problem}</source>
        <translation>Knoten {name} antwortet nicht und fehlt daher: {problem}</translation>
    </message>
    <message>
        <source>node {name} is left out: {problem}</source>
        <translation>Knoten {name} wird ausgelassen: {problem}</translation>
    </message>
    <message>
        <source>node {name}: {problem}</source>
        <translation>Knoten {name}: {problem}</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keine</translation>
    </message>
    <message>
        <source>not enough memory to {doing}: close other programs that use the GPU</source>
        <translation>zu wenig Speicher für den Schritt „{doing}“: andere Programme auf der GPU beenden</translation>
    </message>
    <message>
        <source>not given</source>
        <translation>nicht angegeben</translation>
    </message>
    <message>
        <source>not tuned</source>
        <translation>nicht abgestimmt</translation>
    </message>
    <message>
        <source>nothing was detected</source>
        <translation>nichts wurde erkannt</translation>
    </message>
    <message>
        <source>num={num} uses only the first {num} of the {listed} anchors that anchors= lists</source>
        <translation>num={num} nutzt nur die ersten {num} der {listed} Anker, die anchors= nennt</translation>
    </message>
    <message>
        <source>number, corners, scores and classes after suppression</source>
        <translation>Anzahl, Ecken, Werte und Klassen nach der Unterdrückung</translation>
    </message>
    <message>
        <source>nvidia-ml-py is not installed: {advice}</source>
        <translation>nvidia-ml-py ist nicht installiert: {advice}</translation>
    </message>
    <message>
        <source>only {share:.1%} of the detections in {precision} are those of fp32 ({matching:.0%} needed)</source>
        <translation>nur {share:.1%} der Erkennungen in {precision} sind die von fp32 (nötig: {matching:.0%})</translation>
    </message>
    <message>
        <source>opening the driver&apos;s library</source>
        <translation>das Öffnen der Bibliothek des Treibers</translation>
    </message>
    <message>
        <source>opening {path}</source>
        <translation>das Öffnen von {path}</translation>
    </message>
    <message>
        <source>others may write to {folder} and replace the folders in it: chmod go-w &apos;{folder}&apos;</source>
        <translation>andere dürfen in {folder} schreiben und die Ordner darin ersetzen: chmod go-w &apos;{folder}&apos;</translation>
    </message>
    <message>
        <source>others may write to {folder}, so its files may not be yours: remove it</source>
        <translation>andere dürfen in {folder} schreiben, daher stammen die Dateien vielleicht nicht von Ihnen: den Ordner entfernen</translation>
    </message>
    <message>
        <source>outputs read as {name} ({meaning})</source>
        <translation>Ausgaben gelesen als {name} ({meaning})</translation>
    </message>
    <message>
        <source>poses</source>
        <translation>Körperhaltungen</translation>
    </message>
    <message>
        <source>precision {precision} is not available on this device: choose {offered}</source>
        <translation>Genauigkeit {precision} gibt es auf diesem Gerät nicht: {offered} wählen</translation>
    </message>
    <message>
        <source>process {pid} ({command})</source>
        <translation>Prozess {pid} ({command})</translation>
    </message>
    <message>
        <source>process {process} uses it, and its compute mode is Exclusive: end that process, or &apos;nvidia-smi -i {uuid} -c DEFAULT&apos;, as administrator, allows it</source>
        <translation>Prozess {process} benutzt es, und der Compute-Modus ist Exclusive: diesen Prozess beenden, oder als Administrator „nvidia-smi -i {uuid} -c DEFAULT“ ausführen</translation>
    </message>
    <message>
        <source>raw outputs are not available from other processes</source>
        <translation>rohe Ausgaben gibt es nicht aus anderen Prozessen</translation>
    </message>
    <message>
        <source>reading {name}</source>
        <translation>liest {name}</translation>
    </message>
    <message>
        <source>received before the first keyframe</source>
        <translation>vor dem ersten Schlüsselbild empfangen</translation>
    </message>
    <message>
        <source>received while the stream moved to another device</source>
        <translation>empfangen, während der Stream zu einem anderen Gerät wechselte</translation>
    </message>
    <message>
        <source>recorded to {folder}</source>
        <translation>wird nach {folder} aufgezeichnet</translation>
    </message>
    <message>
        <source>recording has ended</source>
        <translation>die Aufzeichnung ist beendet</translation>
    </message>
    <message>
        <source>recording rests, because its file cannot be written ({detail})</source>
        <translation>die Aufzeichnung ruht, weil ihre Datei nicht geschrieben werden kann ({detail})</translation>
    </message>
    <message>
        <source>recording rests, because the disk has less than {gib:g} GiB of free space</source>
        <translation>die Aufzeichnung ruht, weil auf dem Datenträger weniger als {gib:g} GiB frei sind</translation>
    </message>
    <message>
        <source>recording rests, because the disk is full</source>
        <translation>die Aufzeichnung ruht, weil der Datenträger voll ist</translation>
    </message>
    <message>
        <source>rotated boxes</source>
        <translation>gedrehte Rahmen</translation>
    </message>
    <message>
        <source>scales layer {source} of {shape} by {other}: that must be {needed}</source>
        <translation>skaliert Schicht {source} mit {shape} um {other}: das muss {needed} sein</translation>
    </message>
    <message>
        <source>segmentation</source>
        <translation>Segmentierung</translation>
    </message>
    <message>
        <source>size={size} is larger than the input of {width}×{height} with its padding of {padding}</source>
        <translation>size={size} ist größer als die Eingabe von {width}×{height} mit ihrem Rand von {padding}</translation>
    </message>
    <message>
        <source>softmax= must be 1: classes that do not exclude each other are not supported</source>
        <translation>softmax= muss 1 sein: Klassen, die einander nicht ausschließen, sind nicht unterstützt</translation>
    </message>
    <message>
        <source>source {number}</source>
        <translation>Quelle {number}</translation>
    </message>
    <message>
        <source>source {number} cannot be measured: {problem}</source>
        <translation>Quelle {number} kann nicht gemessen werden: {problem}</translation>
    </message>
    <message>
        <source>stage {number} of {count}: {doing}</source>
        <translation>Stufe {number} von {count}: {doing}</translation>
    </message>
    <message>
        <source>stride={stride} must divide the width and height of {shape}</source>
        <translation>stride={stride} muss Breite und Höhe von {shape} teilen</translation>
    </message>
    <message>
        <source>stride={stride}: {square} must divide the {channels} channels of the input</source>
        <translation>stride={stride}: {square} muss die {channels} Kanäle der Eingabe teilen</translation>
    </message>
    <message>
        <source>stride_x={across} and stride_y={down} differ: only equal strides are supported</source>
        <translation>stride_x={across} und stride_y={down} sind verschieden: nur gleiche Schritte sind unterstützt</translation>
    </message>
    <message>
        <source>supports none of {known}: choose another device</source>
        <translation>unterstützt nichts von {known}: ein anderes Gerät wählen</translation>
    </message>
    <message>
        <source>takes its input from [{head}] (layer {index}), which is an output of the network: put a [route] before it</source>
        <translation>nimmt die Eingabe von [{head}] (Schicht {index}), einer Ausgabe des Netzes: ein [route] davor setzen</translation>
    </message>
    <message>
        <source>temperature</source>
        <translation>Temperatur</translation>
    </message>
    <message>
        <source>the CUDA layers need cuda-python ({problem}): {advice}</source>
        <translation>die CUDA-Schichten brauchen cuda-python ({problem}): {advice}</translation>
    </message>
    <message>
        <source>the GPU&apos;s JPEGs differ from the CPU&apos;s by {difference} of 255</source>
        <translation>die JPEGs der GPU weichen um {difference} von 255 von denen der CPU ab</translation>
    </message>
    <message>
        <source>the agent failed: {problem}</source>
        <translation>der Agent ist ausgefallen: {problem}</translation>
    </message>
    <message>
        <source>the alert &apos;{text}&apos; cannot be raised: the run detects none of its classes, or none of them counts in its zone</source>
        <translation>der Alarm „{text}“ kann nicht ausgelöst werden: Der Lauf erkennt keine seiner Klassen, oder in seiner Zone zählt keine davon</translation>
    </message>
    <message>
        <source>the alert could not be written ({detail})</source>
        <translation>der Alarm konnte nicht geschrieben werden ({detail})</translation>
    </message>
    <message>
        <source>the alert has no still: {why}</source>
        <translation>der Alarm hat kein Standbild: {why}</translation>
    </message>
    <message>
        <source>the clock of the source jumped by {seconds:+.1f} s</source>
        <translation>die Uhr der Quelle sprang um {seconds:+.1f} s</translation>
    </message>
    <message>
        <source>the cluster at {address} cannot be used: {problem}</source>
        <translation>der Cluster bei {address} kann nicht verwendet werden: {problem}</translation>
    </message>
    <message>
        <source>the cluster does not answer: {problem}</source>
        <translation>der Cluster antwortet nicht: {problem}</translation>
    </message>
    <message>
        <source>the command for alerts ({command}) cannot be run: {detail}</source>
        <translation>der Befehl für Alarme ({command}) kann nicht ausgeführt werden: {detail}</translation>
    </message>
    <message>
        <source>the command for alerts ({command}) ended with status {status}</source>
        <translation>der Befehl für Alarme ({command}) endete mit Status {status}</translation>
    </message>
    <message>
        <source>the command for alerts ({command}) had no time to end before the end of the run</source>
        <translation>der Befehl für Alarme ({command}) hatte keine Zeit mehr, vor dem Ende des Laufs fertig zu werden</translation>
    </message>
    <message>
        <source>the command for alerts ({command}) was ended after {seconds:g} s</source>
        <translation>der Befehl für Alarme ({command}) wurde nach {seconds:g} s beendet</translation>
    </message>
    <message>
        <source>the command was not run for an alert, because {count} alerts wait for it</source>
        <translation>der Befehl wurde für einen Alarm nicht ausgeführt, weil {count} Alarme auf ihn warten</translation>
    </message>
    <message>
        <source>the connection to the cluster has ended</source>
        <translation>die Verbindung zum Cluster ist beendet</translation>
    </message>
    <message>
        <source>the connection to the cluster has ended: {problem}</source>
        <translation>die Verbindung zum Cluster ist beendet: {problem}</translation>
    </message>
    <message>
        <source>the connection was closed</source>
        <translation>die Verbindung wurde geschlossen</translation>
    </message>
    <message>
        <source>the connection was lost ({detail})</source>
        <translation>die Verbindung ist abgebrochen ({detail})</translation>
    </message>
    <message>
        <source>the constant &apos;{name}&apos; has another size than its shape says</source>
        <translation>die Konstante „{name}“ hat eine andere Größe, als ihre Form sagt</translation>
    </message>
    <message>
        <source>the decoder could not keep up</source>
        <translation>der Decoder kam nicht nach</translation>
    </message>
    <message>
        <source>the demo&apos;s own choice: {option} takes what tuning has found</source>
        <translation>die eigene Wahl der Demo: {option} nimmt, was die Abstimmung gefunden hat</translation>
    </message>
    <message>
        <source>the device failed while it had the frame</source>
        <translation>das Gerät fiel aus, während es das Bild hatte</translation>
    </message>
    <message>
        <source>the device&apos;s memory became too small for {batch}</source>
        <translation>der Speicher des Geräts wurde zu klein für {batch}</translation>
    </message>
    <message>
        <source>the download was cancelled</source>
        <translation>das Herunterladen wurde abgebrochen</translation>
    </message>
    <message>
        <source>the file takes one picture at once</source>
        <translation>die Datei nimmt ein Bild auf einmal</translation>
    </message>
    <message>
        <source>the first engine that is ready: &apos;framefleet tune&apos; finds the fastest one</source>
        <translation>die erste fertige Engine: „framefleet tune“ findet die schnellste</translation>
    </message>
    <message>
        <source>the first frame</source>
        <translation>das erste Bild</translation>
    </message>
    <message>
        <source>the folder {folder} cannot be read: {detail}</source>
        <translation>der Ordner {folder} ist nicht lesbar: {detail}</translation>
    </message>
    <message>
        <source>the index of the MP4 file is at its end, and the server does not send parts of files: download the file first</source>
        <translation>der Index der MP4-Datei steht an ihrem Ende, und der Server sendet keine Teile von Dateien: Laden Sie die Datei zuerst herunter</translation>
    </message>
    <message>
        <source>the key ring does not give the password: {detail}</source>
        <translation>der Schlüsselbund gibt das Passwort nicht heraus: {detail}</translation>
    </message>
    <message>
        <source>the key ring has no password for {name}: &apos;keyring set {service} USER@HOST&apos; stores one</source>
        <translation>der Schlüsselbund hat kein Passwort für {name}: „keyring set {service} BENUTZER@HOST“ speichert eines</translation>
    </message>
    <message>
        <source>the metadata of {path} contradicts its outputs, which fit only {candidates}: is it a detector? If so, use {option}</source>
        <translation>die Metadaten von {path} widersprechen den Ausgaben, die nur zu {candidates} passen: Ist es ein Detektor? Wenn ja, verwenden Sie {option}</translation>
    </message>
    <message>
        <source>the model has changed</source>
        <translation>das Modell hat sich geändert</translation>
    </message>
    <message>
        <source>the model has {operators}, which NVIDIA GPUs lack here: {devices} is not used</source>
        <translation>das Modell hat {operators}, was NVIDIA-GPUs hier fehlt: {devices} wird nicht verwendet</translation>
    </message>
    <message>
        <source>the network computes more than {most:,} values per picture up to here: check width= and height=</source>
        <translation>das Netz berechnet bis hierher mehr als {most:,} Werte je Bild: width= und height= prüfen</translation>
    </message>
    <message>
        <source>the network found a class that has no label: choose the labels of this model with {option}</source>
        <translation>das Netz hat eine Klasse ohne Namen gefunden: Wählen Sie die Namen dieses Modells mit {option}</translation>
    </message>
    <message>
        <source>the network found confidences above 1, so its outputs mean something else: choose another reading with {option}, or export the model with one of the supported exporters</source>
        <translation>das Netz hat Konfidenzen über 1 gefunden, also bedeuten seine Ausgaben etwas anderes: Wählen Sie eine andere Lesart mit {option}, oder exportieren Sie das Modell mit einem der unterstützten Programme</translation>
    </message>
    <message>
        <source>the network has more than {most:,} layers</source>
        <translation>das Netz hat mehr als {most:,} Schichten</translation>
    </message>
    <message>
        <source>the network has more than {most:,} parameters up to here: check filters= and size=</source>
        <translation>das Netz hat bis hierher mehr als {most:,} Parameter: filters= und size= prüfen</translation>
    </message>
    <message>
        <source>the network has no [yolo] or [region] layer: only Darknet&apos;s YOLO detectors can be used</source>
        <translation>das Netz hat keine Schicht [yolo] oder [region]: nur YOLO-Detektoren von Darknet sind verwendbar</translation>
    </message>
    <message>
        <source>the network is unreachable</source>
        <translation>das Netzwerk ist nicht erreichbar</translation>
    </message>
    <message>
        <source>the network&apos;s outputs are not finite: check the weights, or try {option}</source>
        <translation>die Ausgaben des Netzes sind nicht endlich: die Gewichte prüfen, oder {option} versuchen</translation>
    </message>
    <message>
        <source>the next attempt follows in {seconds:.1f} s: {why}</source>
        <translation>der nächste Versuch folgt in {seconds:.1f} s: {why}</translation>
    </message>
    <message>
        <source>the node asked for {path}, which does not belong to the run</source>
        <translation>der Knoten fragte nach {path}, was nicht zum Lauf gehört</translation>
    </message>
    <message>
        <source>the operator {operator} computes &apos;{value}&apos;, which is computed before</source>
        <translation>der Operator {operator} berechnet „{value}“, das schon vorher berechnet wird</translation>
    </message>
    <message>
        <source>the operator {operator} reads &apos;{value}&apos; before it is computed: the graph has a cycle</source>
        <translation>der Operator {operator} liest „{value}“, bevor es berechnet ist: Der Graph hat einen Zyklus</translation>
    </message>
    <message>
        <source>the outputs of {path} cannot be read as &apos;{name}&apos;, only as {candidates}</source>
        <translation>die Ausgaben von {path} lassen sich nicht als „{name}“ lesen, nur als {candidates}</translation>
    </message>
    <message>
        <source>the part from {begin} to {end} is empty: the end must come after the beginning</source>
        <translation>der Teil von {begin} bis {end} ist leer: das Ende muss nach dem Anfang kommen</translation>
    </message>
    <message>
        <source>the process that moves past results into a session file of their own</source>
        <translation>der Prozess, der vergangene Ergebnisse in eine eigene Sitzungsdatei verschiebt</translation>
    </message>
    <message>
        <source>the process that reads a stream</source>
        <translation>der Prozess, der einen Stream liest</translation>
    </message>
    <message>
        <source>the process that reads it</source>
        <translation>der Prozess, der sie liest,</translation>
    </message>
    <message>
        <source>the process that reads the source ended unexpectedly ({why})</source>
        <translation>der Prozess, der die Quelle liest, endete unerwartet ({why})</translation>
    </message>
    <message>
        <source>the process that tracks objects</source>
        <translation>der Prozess, der Objekte verfolgt,</translation>
    </message>
    <message>
        <source>the process that tries readings</source>
        <translation>der Prozess, der Lesarten ausprobiert</translation>
    </message>
    <message>
        <source>the process that tunes engines</source>
        <translation>der Prozess, der Engines abstimmt,</translation>
    </message>
    <message>
        <source>the process that writes annotated videos</source>
        <translation>der Prozess, der beschriftete Videos schreibt,</translation>
    </message>
    <message>
        <source>the process that writes pictures</source>
        <translation>der Prozess, der Bilder schreibt,</translation>
    </message>
    <message>
        <source>the recording {path} cannot be read: {reason}; check the name and its permissions</source>
        <translation>die Aufzeichnung {path} kann nicht gelesen werden: {reason}; Namen und Rechte prüfen</translation>
    </message>
    <message>
        <source>the results of the past interval stay in the session for now: {why}</source>
        <translation>die Ergebnisse des vergangenen Zeitabschnitts bleiben vorerst in der Sitzung: {why}</translation>
    </message>
    <message>
        <source>the results of {sources}</source>
        <translation>die Ergebnisse von {sources}</translation>
    </message>
    <message>
        <source>the results of {sources} and {count} more source</source>
        <translation>die Ergebnisse von {sources} und {count} weiteren Quelle</translation>
    </message>
    <message>
        <source>the results of {sources} and {count} more sources</source>
        <translation>die Ergebnisse von {sources} und {count} weiteren Quellen</translation>
    </message>
    <message>
        <source>the run began</source>
        <translation>der Lauf hat begonnen</translation>
    </message>
    <message>
        <source>the run was stopped</source>
        <translation>der Lauf wurde angehalten</translation>
    </message>
    <message>
        <source>the search for devices failed: {problems}; &apos;framefleet doctor&apos; says what is missing</source>
        <translation>die Suche nach Geräten schlug fehl: {problems}; „framefleet doctor“ nennt, was fehlt</translation>
    </message>
    <message>
        <source>the search for devices found none; &apos;framefleet doctor&apos; says what is missing</source>
        <translation>die Suche nach Geräten fand keines; „framefleet doctor“ nennt, was fehlt</translation>
    </message>
    <message>
        <source>the sessions have no picture of {path} in common</source>
        <translation>die Sitzungen haben kein Bild von {path} gemeinsam</translation>
    </message>
    <message>
        <source>the sound ({codec}) cannot be recorded</source>
        <translation>der Ton ({codec}) kann nicht aufgezeichnet werden</translation>
    </message>
    <message>
        <source>the sound of {path} is left out, because the file that is written cannot hold its codec, {codec}</source>
        <translation>der Ton von {path} fehlt, weil die geschriebene Datei seinen Codec {codec} nicht aufnehmen kann</translation>
    </message>
    <message>
        <source>the source answers: {codec}, {width}×{height}</source>
        <translation>die Quelle antwortet: {codec}, {width}×{height}</translation>
    </message>
    <message>
        <source>the source cannot be opened ({detail})</source>
        <translation>die Quelle kann nicht geöffnet werden ({detail})</translation>
    </message>
    <message>
        <source>the source does not know this address</source>
        <translation>die Quelle kennt diese Adresse nicht</translation>
    </message>
    <message>
        <source>the source has ended</source>
        <translation>die Quelle ist zu Ende</translation>
    </message>
    <message>
        <source>the source has not answered within {seconds:g} s</source>
        <translation>die Quelle hat {seconds:g} s lang nicht geantwortet</translation>
    </message>
    <message>
        <source>the source leads to another host ({host}), which is not opened</source>
        <translation>die Quelle führt zu einem anderen Rechner ({host}), der nicht geöffnet wird</translation>
    </message>
    <message>
        <source>the source of the recording is lost: {why}</source>
        <translation>die Quelle der Aufzeichnung ist verloren: {why}</translation>
    </message>
    <message>
        <source>the source refuses the user or the password</source>
        <translation>die Quelle lehnt den Benutzer oder das Passwort ab</translation>
    </message>
    <message>
        <source>the source sends no video</source>
        <translation>die Quelle sendet kein Video</translation>
    </message>
    <message>
        <source>the source was connected again</source>
        <translation>die Quelle wurde neu verbunden</translation>
    </message>
    <message>
        <source>the source was given up after {count} attempt: {why}</source>
        <translation>die Quelle wurde nach {count} Versuch aufgegeben: {why}</translation>
    </message>
    <message>
        <source>the source was given up after {count} attempts: {why}</source>
        <translation>die Quelle wurde nach {count} Versuchen aufgegeben: {why}</translation>
    </message>
    <message>
        <source>the sources are too short to measure: they end during the warm-up, their first tenth</source>
        <translation>die Quellen sind zu kurz zum Messen: sie enden beim Aufwärmen, ihrem ersten Zehntel</translation>
    </message>
    <message>
        <source>the strategy depth needs 2 to {most} devices, one for each stage, not {number} ({devices}): choose other devices or the strategy segments</source>
        <translation>die Strategie Depth braucht 2 bis {most} Geräte, eines je Stufe, nicht {number} ({devices}): andere Geräte oder die Strategie Segmente wählen</translation>
    </message>
    <message>
        <source>the strategy depth needs CUDA devices only, or other devices only, not both ({devices}): choose other devices or the strategy segments</source>
        <translation>die Strategie Depth braucht nur CUDA-Geräte oder nur andere, nicht beide ({devices}): andere Geräte oder die Strategie Segmente wählen</translation>
    </message>
    <message>
        <source>the strategy depth needs a device for each stage, and one is named twice ({devices}): choose other devices or the strategy segments</source>
        <translation>die Strategie Depth braucht ein Gerät je Stufe, und eines ist zweimal genannt ({devices}): andere Geräte oder die Strategie Segmente wählen</translation>
    </message>
    <message>
        <source>the stream changed to {codec}, {width}×{height}</source>
        <translation>der Stream wechselte zu {codec}, {width}×{height}</translation>
    </message>
    <message>
        <source>the truth {path} cannot be read ({reason}): install Framefleet again</source>
        <translation>die wahren Objekte {path} können nicht gelesen werden ({reason}): Installieren Sie Framefleet erneut</translation>
    </message>
    <message>
        <source>the video cannot be encoded ({detail})</source>
        <translation>das Video lässt sich nicht kodieren ({detail})</translation>
    </message>
    <message>
        <source>the weights of layer {index} are too large for FP16 (above 65504): use {option}</source>
        <translation>die Gewichte der Schicht {index} sind zu groß für FP16 (über 65504): {option} verwenden</translation>
    </message>
    <message>
        <source>their precisions differ ({precisions}), so boxes differ slightly: give each run the same {option}</source>
        <translation>die Genauigkeiten sind verschieden ({precisions}), daher weichen Rahmen leicht ab: jedem Lauf dasselbe {option} geben</translation>
    </message>
    <message>
        <source>there are {count} CUDA devices; &apos;framefleet devices&apos; lists yours</source>
        <translation>es gibt {count} CUDA-Geräte; „framefleet devices“ listet Ihre auf</translation>
    </message>
    <message>
        <source>there is no access to the key ring: install the Python package &apos;keyring&apos;, or give --netrc FILE</source>
        <translation>kein Zugriff auf den Schlüsselbund: das Python-Paket „keyring“ installieren oder --netrc DATEI angeben</translation>
    </message>
    <message>
        <source>there is no class {class_id}: the session has {count} class</source>
        <translation>es gibt keine Klasse {class_id}: die Sitzung hat {count} Klasse</translation>
    </message>
    <message>
        <source>there is no class {class_id}: the session has {count} classes</source>
        <translation>es gibt keine Klasse {class_id}: die Sitzung hat {count} Klassen</translation>
    </message>
    <message>
        <source>there is no decoder for {codec}</source>
        <translation>es gibt keinen Decoder für {codec}</translation>
    </message>
    <message>
        <source>there is no format &apos;{name}&apos;: choose from {formats}</source>
        <translation>das Format „{name}“ gibt es nicht: aus {formats} wählen</translation>
    </message>
    <message>
        <source>there is no memory for {frames} of its frames of {size} MiB</source>
        <translation>es gibt keinen Speicher für {frames} Bilder von {size} MiB</translation>
    </message>
    <message>
        <source>there is no model &apos;{name}&apos; to download; {others}</source>
        <translation>es gibt kein Modell „{name}“ zum Herunterladen; {others}</translation>
    </message>
    <message>
        <source>there is no zone &apos;{zone}&apos; for alerts: {names}</source>
        <translation>es gibt keine Zone „{zone}“ für Alarme: {names}</translation>
    </message>
    <message>
        <source>this GPU cannot decode JPEGs (status {status} of nvJPEG)</source>
        <translation>diese GPU kann keine JPEGs dekodieren (Status {status} von nvJPEG)</translation>
    </message>
    <message>
        <source>under way when the run or the connection ended</source>
        <translation>unterwegs, als der Lauf oder die Verbindung endete</translation>
    </message>
    <message>
        <source>{address} is not an address of a stream: write rtsp://HOST/PATH or http://HOST/PATH</source>
        <translation>{address} ist keine Adresse eines Streams: rtsp://HOST/PFAD oder http://HOST/PFAD schreiben</translation>
    </message>
    <message>
        <source>{count:,} pictures are frames of the video by the numbers in their names, such as frame_000012: frames count from 0, as in CVAT.</source>
        <translation>{count:,} Bilder gehören nach den Nummern in ihren Namen zum Video, etwa frame_000012: Bilder zählen ab 0, wie in CVAT.</translation>
    </message>
    <message>
        <source>{count} frame was not recorded, because the disk could not keep up</source>
        <translation>{count} Bild wurde nicht aufgezeichnet, weil der Datenträger zu langsam war</translation>
    </message>
    <message>
        <source>{count} frames were not recorded, because the disk could not keep up</source>
        <translation>{count} Bilder wurden nicht aufgezeichnet, weil der Datenträger zu langsam war</translation>
    </message>
    <message>
        <source>{count} picture is a frame of the video by the number in its name, such as frame_000012: frames count from 0, as in CVAT.</source>
        <translation>{count} Bild gehört nach der Nummer in seinem Namen zum Video, etwa frame_000012: Bilder zählen ab 0, wie in CVAT.</translation>
    </message>
    <message>
        <source>{data} does not belong to {path}: it ends before the values of &apos;{name}&apos;</source>
        <translation>{data} gehört nicht zu {path}: Die Datei endet vor den Werten von „{name}“</translation>
    </message>
    <message>
        <source>{label} added in {where} of {source}</source>
        <translation>{label} in {where} von {source} hinzugefügt</translation>
    </message>
    <message>
        <source>{name} takes one picture at once: leave out {option}</source>
        <translation>{name} nimmt ein Bild auf einmal: Lassen Sie {option} weg</translation>
    </message>
    <message>
        <source>{name} was not recorded then, or its files are gone: clips of a stream need a recording (--record)</source>
        <translation>{name} wurde zu dieser Zeit nicht aufgezeichnet, oder die Dateien fehlen: Clips eines Streams brauchen eine Aufzeichnung (--record)</translation>
    </message>
    <message>
        <source>{operator} reads &apos;{value}&apos;, which nothing computes</source>
        <translation>{operator} liest „{value}“, das nichts berechnet</translation>
    </message>
    <message>
        <source>{path} begins between two keyframes: its first frames ({count}) cannot be decoded without earlier ones, and are left out</source>
        <translation>{path} beginnt zwischen zwei Keyframes: Die ersten Frames ({count}) lassen sich ohne frühere nicht decodieren und werden ausgelassen</translation>
    </message>
    <message>
        <source>{path} can be read in more than one way: {candidates}. Choose one with {option}; the answer is kept</source>
        <translation>{path} lässt sich auf mehrere Arten lesen: {candidates}. Wählen Sie eine mit {option}; die Antwort wird gemerkt</translation>
    </message>
    <message>
        <source>{path} cannot be loaded: {problem}</source>
        <translation>{path} lässt sich nicht laden: {problem}</translation>
    </message>
    <message>
        <source>{path} cannot be read as a netrc file: {detail}</source>
        <translation>{path} kann nicht als netrc-Datei gelesen werden: {detail}</translation>
    </message>
    <message>
        <source>{path} computes more than {most:,} values per picture</source>
        <translation>{path} berechnet mehr als {most:,} Werte je Bild</translation>
    </message>
    <message>
        <source>{path} computes with 8-bit numbers, and finds other boxes on some processors: export it in float32 or float16</source>
        <translation>{path} rechnet mit 8-Bit-Zahlen und findet auf manchen Prozessoren andere Objekte: Exportieren Sie es in float32 oder float16</translation>
    </message>
    <message>
        <source>{path} does not exist; cameras of this machine: {cameras}</source>
        <translation>{path} existiert nicht; Kameras dieses Rechners: {cameras}</translation>
    </message>
    <message>
        <source>{path} does not exist; if a camera is meant, write its number as camera:0</source>
        <translation>{path} existiert nicht; falls eine Kamera gemeint ist, ihre Nummer als camera:0 schreiben</translation>
    </message>
    <message>
        <source>{path} does not exist; if a camera or stream is meant, write its whole address, such as rtsp://{path}</source>
        <translation>{path} gibt es nicht; wenn eine Kamera oder ein Stream gemeint ist, die ganze Adresse schreiben, etwa rtsp://{path}</translation>
    </message>
    <message>
        <source>{path} does not say how many classes it has: give their names with {option} (for a network trained on COCO, write coco)</source>
        <translation>{path} sagt nicht, wie viele Klassen es hat: Geben Sie ihre Namen mit {option} an (für ein auf COCO trainiertes Netz: coco)</translation>
    </message>
    <message>
        <source>{path} had different content in the runs of {sessions}: the results of each are kept, as sources of the same name</source>
        <translation>{path} hatte bei den Läufen von {sessions} verschiedenen Inhalt: Die Ergebnisse jedes Laufs bleiben, als Quellen mit demselben Namen</translation>
    </message>
    <message>
        <source>{path} has NMS that is not supported ({operator} with anchors, or with class_agnostic): export it without NMS</source>
        <translation>{path} hat eine NMS, die nicht unterstützt wird ({operator} mit Ankern oder mit class_agnostic): Exportieren Sie es ohne NMS</translation>
    </message>
    <message>
        <source>{path} has class scores and distributions of distances, as NanoDet, not boxes: {outputs}; export it with the computation of boxes, or choose another detector</source>
        <translation>{path} hat Konfidenzen der Klassen und Verteilungen von Abständen, wie NanoDet, keine Boxen: {outputs}; exportieren Sie es mit der Berechnung der Boxen, oder wählen Sie einen anderen Detektor</translation>
    </message>
    <message>
        <source>{path} has inputs that no supported detector has: {inputs}</source>
        <translation>{path} hat Eingaben, die kein unterstützter Detektor hat: {inputs}</translation>
    </message>
    <message>
        <source>{path} has no frame to try readings on: choose another file</source>
        <translation>{path} hat kein Bild, um Lesarten auszuprobieren: Wählen Sie eine andere Datei</translation>
    </message>
    <message>
        <source>{path} has no results of {name}: choose a session of the same video</source>
        <translation>{path} hat keine Ergebnisse von {name}: eine Sitzung desselben Videos wählen</translation>
    </message>
    <message>
        <source>{path} has outputs that no supported detector has: {outputs}</source>
        <translation>{path} hat Ausgaben, die kein unterstützter Detektor hat: {outputs}</translation>
    </message>
    <message>
        <source>{path} has the outputs of DAMO-YOLO, and does not say how pictures are to be prepared for it: choose another detector</source>
        <translation>{path} hat die Ausgaben von DAMO-YOLO und sagt nicht, wie Bilder dafür vorzubereiten sind: Wählen Sie einen anderen Detektor</translation>
    </message>
    <message>
        <source>{path} has the raw outputs of a network, not boxes: {outputs}; export it with the computation of boxes, as YOLOv7 does with --grid</source>
        <translation>{path} hat die rohen Ausgaben eines Netzes, keine Boxen: {outputs}; exportieren Sie es mit der Berechnung der Boxen, wie YOLOv7 mit --grid</translation>
    </message>
    <message>
        <source>{path} has values in &apos;{location}&apos;, which is not a file beside it: export it again, as one file</source>
        <translation>{path} hat Werte in „{location}“, das keine Datei daneben ist: Exportieren Sie es erneut, als eine Datei</translation>
    </message>
    <message>
        <source>{path} has values in another file, {data}, which is missing: put it beside the .onnx file</source>
        <translation>{path} hat Werte in einer anderen Datei, {data}, die fehlt: Legen Sie sie neben die .onnx-Datei</translation>
    </message>
    <message>
        <source>{path} has values in several files ({files}): export it again, as one file</source>
        <translation>{path} hat Werte in mehreren Dateien ({files}): Exportieren Sie es erneut, als eine Datei</translation>
    </message>
    <message>
        <source>{path} has {count} pages, of which only the first could be read: save them as pictures in a folder</source>
        <translation>{path} hat {count} Seiten, von denen nur die erste gelesen werden könnte: als Bilder in einem Ordner speichern</translation>
    </message>
    <message>
        <source>{path} has {count} video tracks: objects are searched in the one that players show; save the others as their own files</source>
        <translation>{path} hat {count} Videospuren: Objekte werden in der gesucht, die Abspieler zeigen; die anderen als eigene Dateien speichern</translation>
    </message>
    <message>
        <source>{path} holds {count} {format} files, one after the other, of which only the first one is read: join them with a video program instead</source>
        <translation>{path} enthält {count} {format}-Dateien hintereinander, von denen nur die erste gelesen wird: stattdessen mit einem Videoprogramm verbinden</translation>
    </message>
    <message>
        <source>{path} is a PyTorch model, which can run any program when it is loaded: export it as ONNX in the program that it was trained with, such as &apos;yolo export model=M.pt format=onnx&apos;, and give the .onnx file</source>
        <translation>{path} ist ein PyTorch-Modell, das beim Laden beliebige Programme ausführen kann: Exportieren Sie es als ONNX in dem Programm, mit dem es trainiert wurde, etwa mit „yolo export model=M.pt format=onnx“, und geben Sie die .onnx-Datei an</translation>
    </message>
    <message>
        <source>{path} is a message in {form}, not the file itself: the download went wrong; download it again</source>
        <translation>{path} ist eine Meldung in {form}, nicht die Datei selbst: Beim Herunterladen ging etwas schief; noch einmal herunterladen</translation>
    </message>
    <message>
        <source>{path} is a model for {form}: export it as ONNX in the program that it was trained with, such as &apos;yolo export model=M.pt format=onnx&apos;, and give the .onnx file</source>
        <translation>{path} ist ein Modell für {form}: Exportieren Sie es als ONNX in dem Programm, mit dem es trainiert wurde, etwa mit „yolo export model=M.pt format=onnx“, und geben Sie die .onnx-Datei an</translation>
    </message>
    <message>
        <source>{path} is a network for {task}: only detectors of upright boxes can be used</source>
        <translation>{path} ist ein Netz für {task}: Nur Detektoren mit aufrechten Rahmen lassen sich verwenden</translation>
    </message>
    <message>
        <source>{path} is a picture in tiles, as telephones store them (HEIC): convert it to JPEG to use it</source>
        <translation>{path} ist ein Bild in Kacheln, wie Telefone es speichern (HEIC): in JPEG umwandeln, um es zu verwenden</translation>
    </message>
    <message>
        <source>{path} is a web page, not the file itself: the download went wrong; download it again</source>
        <translation>{path} ist eine Webseite, nicht die Datei selbst: Beim Herunterladen ging etwas schief; noch einmal herunterladen</translation>
    </message>
    <message>
        <source>{path} is a {form} archive: unpack it, and give the file in it</source>
        <translation>{path} ist ein {form}-Archiv: auspacken und die Datei darin angeben</translation>
    </message>
    <message>
        <source>{path} is encrypted: copy it without copy protection to use it</source>
        <translation>{path} ist verschlüsselt: zum Verwenden ohne Kopierschutz kopieren</translation>
    </message>
    <message>
        <source>{path} is larger than {most:,} bytes</source>
        <translation>{path} ist größer als {most:,} Byte</translation>
    </message>
    <message>
        <source>{path} is not a file, and only a file can be followed</source>
        <translation>{path} ist keine Datei, und nur einer Datei kann gefolgt werden</translation>
    </message>
    <message>
        <source>{path} is not a usable ONNX file: {problem}</source>
        <translation>{path} ist keine brauchbare ONNX-Datei: {problem}</translation>
    </message>
    <message>
        <source>{path} needs operators that are not ONNX&apos;s own: {operators}; export it without them</source>
        <translation>{path} braucht Operatoren, die nicht zu ONNX gehören: {operators}; exportieren Sie es ohne sie</translation>
    </message>
    <message>
        <source>{path} takes exactly {batch} pictures at once: export it for one picture, or for any number</source>
        <translation>{path} nimmt genau {batch} Bilder auf einmal: Exportieren Sie es für ein Bild oder für beliebig viele</translation>
    </message>
    <message>
        <source>{path} takes only pictures of {width}×{height}: leave out {option}, or export it for another size</source>
        <translation>{path} nimmt nur Bilder von {width}×{height}: Lassen Sie {option} weg, oder exportieren Sie es für eine andere Größe</translation>
    </message>
    <message>
        <source>{path} takes pictures of any size and does not say which it was made for: give {option}</source>
        <translation>{path} nimmt Bilder jeder Größe und sagt nicht, für welche es gedacht ist: Geben Sie {option} an</translation>
    </message>
    <message>
        <source>{path} was written by &apos;framefleet export&apos;, but its description of the outputs is damaged: export it again</source>
        <translation>{path} wurde von „framefleet export“ geschrieben, aber die Beschreibung der Ausgaben ist beschädigt: Exportieren Sie es erneut</translation>
    </message>
    <message>
        <source>{path}: AVI and ASF do not say when their frames are shown, so they cannot be copied; write exact clips</source>
        <translation>{path}: AVI und ASF sagen nicht, wann ihre Bilder gezeigt werden. Sie können daher nicht kopiert werden; schreiben Sie genaue Ausschnitte</translation>
    </message>
    <message>
        <source>{problem}; also in {count} other section</source>
        <translation>{problem}; auch in {count} weiteren Abschnitt</translation>
    </message>
    <message>
        <source>{problem}; also in {count} other sections</source>
        <translation>{problem}; auch in {count} weiteren Abschnitten</translation>
    </message>
    <message>
        <source>{scheme}://{rest} is a stream of a kind that is not read: give an address with rtsp, rtsps, http or https, or a camera as camera:0, or record it to a file first</source>
        <translation>{scheme}://{rest} ist ein Stream einer Art, die nicht gelesen wird: Geben Sie eine Adresse mit rtsp, rtsps, http oder https oder eine Kamera als camera:0 an, oder nehmen Sie ihn zuerst in eine Datei auf</translation>
    </message>
    <message>
        <source>{what}: box moved</source>
        <translation>{what}: Rahmen geändert</translation>
    </message>
    <message>
        <source>{why}; {restarts} restarts within {seconds:.0f} s did not help</source>
        <translation>{why}; {restarts} Neustarts in {seconds:.0f} s halfen nicht</translation>
    </message>
    <message>
        <source>there is no {what}</source>
        <translation>es gibt nicht: {what}</translation>
    </message>
    <message>
        <source>a column for each box: corners, class scores; as YOLOv9 without ultralytics</source>
        <translation>eine Spalte je Rahmen: Ecken, Werte der Klassen; wie YOLOv9 ohne ultralytics</translation>
    </message>
    <message>
        <source>a row for each object: centre and size as fractions, score, class; as RT-DETR of ultralytics since 8.4</source>
        <translation>eine Zeile je Objekt: Mitte und Größe als Bruchteile, Wert, Klasse; wie RT-DETR von ultralytics ab 8.4</translation>
    </message>
    <message>
        <source>a row for each object: picture, corners, score, class; as YOLO-NAS after suppression</source>
        <translation>eine Zeile je Objekt: Bild, Ecken, Wert, Klasse; wie YOLO-NAS nach der Unterdrückung</translation>
    </message>
    <message>
        <source>an alert was left out, because {count} wait to be written</source>
        <translation>ein Alarm wurde ausgelassen, weil {count} darauf warten, geschrieben zu werden</translation>
    </message>
    <message>
        <source>boxes and logits, the last one for no object; colours normalised as in ImageNet, as DETR and YOLOS</source>
        <translation>Rahmen und Logits, das letzte für kein Objekt; Farben normalisiert wie in ImageNet, wie DETR und YOLOS</translation>
    </message>
    <message>
        <source>by its times, {name} lasts {days:,.0f} days: more than {most:,} intervals. Choose a longer {option}; or the source&apos;s clock jumped</source>
        <translation>{name} dauert nach seinen Zeiten {days:,.0f} Tage: mehr als {most:,} Zeitabschnitte. {option} länger wählen; oder die Uhr der Quelle ist gesprungen</translation>
    </message>
    <message>
        <source>there is {count} CUDA device; &apos;framefleet devices&apos; lists yours</source>
        <translation>es gibt {count} CUDA-Gerät; „framefleet devices“ listet Ihre auf</translation>
    </message>
    <message>
        <source>this model has no class &apos;{name}&apos;: it has {labels}</source>
        <translation>dieses Modell hat keine Klasse „{name}“: es hat {labels}</translation>
    </message>
    <message>
        <source>this model has no class &apos;{name}&apos;: it has {labels} and {more} more</source>
        <translation>dieses Modell hat keine Klasse „{name}“: es hat {labels} und {more} weitere</translation>
    </message>
    <message>
        <source>timing stages that begin at layers {cuts}</source>
        <translation>Stufen, die bei den Schichten {cuts} beginnen, werden gemessen</translation>
    </message>
    <message>
        <source>track {track} of {source}</source>
        <translation>Spur {track} von {source}</translation>
    </message>
    <message>
        <source>tracks of {path} were joined or split by hand: {option} forgets that and tracks again</source>
        <translation>Spuren von {path} wurden von Hand verbunden oder geteilt: {option} verwirft das und verfolgt erneut</translation>
    </message>
    <message>
        <source>try again later, name a mirror in FRAMEFLEET_MODELS_URL, or use a .cfg and .weights of your own</source>
        <translation>später noch einmal versuchen, einen Spiegelserver in FRAMEFLEET_MODELS_URL nennen, oder eigene .cfg und .weights verwenden</translation>
    </message>
    <message>
        <source>trying {what}: {doing}</source>
        <translation>{what} wird erprobt: {doing}</translation>
    </message>
    <message>
        <source>version {version} is too old: {advice}</source>
        <translation>Version {version} ist zu alt: {advice}</translation>
    </message>
    <message>
        <source>with the strategy {strategy} no device can join or leave a run: start another one</source>
        <translation>mit der Strategie {strategy} kann kein Gerät hinzukommen oder gehen: einen anderen Lauf starten</translation>
    </message>
    <message>
        <source>writing a clip of {path}</source>
        <translation>das Schreiben eines Clips von {path}</translation>
    </message>
    <message>
        <source>writing a frame of {path}</source>
        <translation>das Schreiben eines Bildes von {path}</translation>
    </message>
    <message>
        <source>writing a picture of {path}</source>
        <translation>das Schreiben eines Bildes von {path}</translation>
    </message>
    <message>
        <source>{address} answers with a web page instead of the file: if this network asks for a login, log in first, or {advice}</source>
        <translation>{address} antwortet mit einer Webseite statt der Datei: wenn dieses Netzwerk eine Anmeldung verlangt, erst anmelden, oder {advice}</translation>
    </message>
    <message>
        <source>{address} cannot be downloaded, the server answers &apos;{reason}&apos;: {advice}</source>
        <translation>{address} lässt sich nicht herunterladen, der Server antwortet „{reason}“: {advice}</translation>
    </message>
    <message>
        <source>{address} cannot be reached safely ({reason}): is the clock of this machine right? Behind a proxy that opens connections, name its certificate in REQUESTS_CA_BUNDLE</source>
        <translation>{address} ist nicht sicher erreichbar ({reason}): stimmt die Uhr dieses Rechners? Hinter einem Proxy, der Verbindungen öffnet, dessen Zertifikat in REQUESTS_CA_BUNDLE nennen</translation>
    </message>
    <message>
        <source>{address} cannot be reached: the proxy that HTTP_PROXY or HTTPS_PROXY names does not answer ({reason})</source>
        <translation>{address} ist nicht erreichbar: der Proxy aus HTTP_PROXY oder HTTPS_PROXY antwortet nicht ({reason})</translation>
    </message>
    <message>
        <source>{address} is announced with {announced:,} bytes, but this file has exactly {size:,}: the server has another file, or is misconfigured; {advice}</source>
        <translation>{address} ist mit {announced:,} Bytes angekündigt, die Datei hat aber genau {size:,}: der Server hat eine andere Datei oder ist falsch eingestellt; {advice}</translation>
    </message>
    <message>
        <source>{address} is not the file that was published: {problem}</source>
        <translation>{address} ist nicht die veröffentlichte Datei: {problem}</translation>
    </message>
    <message>
        <source>{address} redirects in a circle: {advice}</source>
        <translation>{address} leitet im Kreis um: {advice}</translation>
    </message>
    <message>
        <source>{address} redirects to {target}, where a download is not safe: {advice}</source>
        <translation>{address} leitet zu {target} um, wo ein Download nicht sicher ist: {advice}</translation>
    </message>
    <message>
        <source>{address} sends more than the expected {most:,} bytes: it is another file; {advice}</source>
        <translation>{address} sendet mehr als die erwarteten {most:,} Bytes: es ist eine andere Datei; {advice}</translation>
    </message>
    <message>
        <source>{address} was interrupted after {reached:,} bytes ({reason}): try again to continue it</source>
        <translation>{address} brach nach {reached:,} Bytes ab ({reason}): zum Fortsetzen noch einmal versuchen</translation>
    </message>
    <message>
        <source>{address} was interrupted after {reached:,} of {size:,} bytes ({reason}): try again to continue it</source>
        <translation>{address} brach nach {reached:,} von {size:,} Bytes ab ({reason}): zum Fortsetzen noch einmal versuchen</translation>
    </message>
    <message>
        <source>{address} was interrupted {attempts} times, the last time after {reached:,} bytes: try again to continue it</source>
        <translation>{address} brach {attempts}-mal ab, zuletzt nach {reached:,} Bytes: zum Fortsetzen noch einmal versuchen</translation>
    </message>
    <message>
        <source>{address} was stopped after {reached:,} bytes: the server sends less than {rate:g} kB a second; try again to continue it</source>
        <translation>{address} wurde nach {reached:,} Bytes angehalten: der Server sendet weniger als {rate:g} kB je Sekunde; zum Fortsetzen noch einmal versuchen</translation>
    </message>
    <message>
        <source>{batch} brings {gain:+.0%} pictures/s only</source>
        <translation>{batch} bringt nur {gain:+.0%} Bilder/s</translation>
    </message>
    <message>
        <source>{batch} would take {ms:.1f} ms, longer than {budget_ms:g} ms</source>
        <translation>{batch} würde {ms:.1f} ms brauchen, länger als {budget_ms:g} ms</translation>
    </message>
    <message>
        <source>{columns} × {rows} tiles</source>
        <translation>{columns} × {rows} Kacheln</translation>
    </message>
    <message>
        <source>{command} &apos;framefleet-VERSION.whl[{extra}]&apos;, with the wheel that you installed</source>
        <translation>{command} &apos;framefleet-VERSION.whl[{extra}]&apos;, mit dem Wheel, das Sie installiert haben</translation>
    </message>
    <message>
        <source>{count:,} annotations have neither a box nor a polygon, and are left out.</source>
        <translation>{count:,} Annotationen haben weder Rahmen noch Polygon und werden ausgelassen.</translation>
    </message>
    <message>
        <source>{count:,} detections with confidences up to {highest:.2f}, and a track begins at {needed:.2f}: use a model that is surer of these objects</source>
        <translation>{count:,} Erkennungen mit Konfidenzen bis {highest:.2f}, und eine Spur beginnt bei {needed:.2f}: ein Modell verwenden, das diese Objekte sicherer erkennt</translation>
    </message>
    <message>
        <source>{count:,} detections with confidences up to {highest:.2f}, but no object was seen in several frames in a row: analyse more frames a second, or use a surer model</source>
        <translation>{count:,} Erkennungen mit Konfidenzen bis {highest:.2f}, aber kein Objekt war in mehreren Bildern hintereinander zu sehen: mehr Bilder je Sekunde analysieren, oder ein sichereres Modell verwenden</translation>
    </message>
    <message>
        <source>{count:,} frames</source>
        <translation>{count:,} Bilder</translation>
    </message>
    <message>
        <source>{count:,} frames in {seconds:.1f} s</source>
        <translation>{count:,} Bilder in {seconds:.1f} s</translation>
    </message>
    <message>
        <source>{count:,} objects have no width or no height. They count as missed, as in pycocotools.</source>
        <translation>{count:,} Objekte haben keine Breite oder keine Höhe. Sie zählen als übersehen, wie in pycocotools.</translation>
    </message>
    <message>
        <source>{count:,} pictures</source>
        <translation>{count:,} Bilder</translation>
    </message>
    <message>
        <source>{count:,} rotated boxes, polygons, ellipses, masks and skeletons count as the upright boxes around them.</source>
        <translation>{count:,} gedrehte Rahmen, Polygone, Ellipsen, Masken und Skelette zählen als die geraden Rahmen um sie.</translation>
    </message>
    <message>
        <source>{count} annotation has neither a box nor a polygon, and is left out.</source>
        <translation>{count} Annotation hat weder Rahmen noch Polygon und wird ausgelassen.</translation>
    </message>
    <message>
        <source>{count} detection with a confidence of {highest:.2f}, and a track begins at {needed:.2f}: use a model that is surer of these objects</source>
        <translation>{count} Erkennung mit einer Konfidenz von {highest:.2f}, und eine Spur beginnt bei {needed:.2f}: ein Modell verwenden, das diese Objekte sicherer erkennt</translation>
    </message>
    <message>
        <source>{count} detection with a confidence of {highest:.2f}, but no object was seen in several frames in a row: analyse more frames a second, or use a surer model</source>
        <translation>{count} Erkennung mit einer Konfidenz von {highest:.2f}, aber kein Objekt war in mehreren Bildern hintereinander zu sehen: mehr Bilder je Sekunde analysieren, oder ein sichereres Modell verwenden</translation>
    </message>
    <message>
        <source>{count} frame</source>
        <translation>{count} Bild</translation>
    </message>
    <message>
        <source>{count} frame in {seconds:.1f} s</source>
        <translation>{count} Bild in {seconds:.1f} s</translation>
    </message>
    <message>
        <source>{count} object has no width or no height. It counts as missed, as in pycocotools.</source>
        <translation>{count} Objekt hat keine Breite oder keine Höhe. Es zählt als übersehen, wie in pycocotools.</translation>
    </message>
    <message>
        <source>{count} picture</source>
        <translation>{count} Bild</translation>
    </message>
    <message>
        <source>{count} rotated box, polygon, ellipse, mask or skeleton counts as the upright box around it.</source>
        <translation>{count} gedrehter Rahmen, Polygon, Ellipse, Maske oder Skelett zählt als der gerade Rahmen darum.</translation>
    </message>
    <message>
        <source>{count} source finished by an earlier run: the results stay</source>
        <translation>{count} Quelle, von einem früheren Lauf abgeschlossen: Die Ergebnisse bleiben</translation>
    </message>
    <message>
        <source>{count} sources finished by an earlier run: the results stay</source>
        <translation>{count} Quellen, von einem früheren Lauf abgeschlossen: Die Ergebnisse bleiben</translation>
    </message>
    <message>
        <source>{crash}: no clip of {path} was written; try again with other times or classes</source>
        <translation>{crash}: Von {path} wurde kein Ausschnitt geschrieben; versuchen Sie es mit anderen Zeiten oder Klassen</translation>
    </message>
    <message>
        <source>{crash}; what it had written is in {path}</source>
        <translation>{crash}; was geschrieben war, ist in {path}</translation>
    </message>
    <message>
        <source>{device} does not take part: there is {devices}</source>
        <translation>{device} nimmt nicht teil: es gibt {devices}</translation>
    </message>
    <message>
        <source>{device} failed during the measurement: {problem}</source>
        <translation>{device} ist bei der Messung ausgefallen: {problem}</translation>
    </message>
    <message>
        <source>{device} is a device of a cluster: give {option}, or choose one of &apos;framefleet devices&apos;</source>
        <translation>{device} ist ein Gerät eines Clusters: {option} angeben, oder eines von „framefleet devices“ wählen</translation>
    </message>
    <message>
        <source>{device} is not a device of the cluster: write NODE/{device}</source>
        <translation>{device} ist kein Gerät des Clusters: Schreiben Sie KNOTEN/{device}</translation>
    </message>
    <message>
        <source>{device} is the only device and does every file from start to end</source>
        <translation>{device} ist das einzige Gerät und verarbeitet jede Datei vom Anfang bis zum Ende</translation>
    </message>
    <message>
        <source>{device} offers {precisions} only</source>
        <translation>{device} bietet nur {precisions}</translation>
    </message>
    <message>
        <source>{device}: the cluster has no node {node}; its nodes are {nodes}</source>
        <translation>{device}: Der Cluster hat keinen Knoten {node}; seine Knoten sind {nodes}</translation>
    </message>
    <message>
        <source>{differences}: install the same on both</source>
        <translation>{differences}: Installieren Sie auf beiden dasselbe</translation>
    </message>
    <message>
        <source>{folder} belongs to another user: set TMPDIR to another folder before &apos;ray start&apos;</source>
        <translation>{folder} gehört einem anderen Benutzer: Setzen Sie TMPDIR vor „ray start“ auf einen anderen Ordner</translation>
    </message>
    <message>
        <source>{folder} belongs to {owner}, who can replace what it holds or refers to</source>
        <translation>{folder} gehört {owner}, der ersetzen kann, was darin ist oder worauf es verweist</translation>
    </message>
    <message>
        <source>{folder} belongs to {owner}: remove it, or give it to {user}</source>
        <translation>{folder} gehört {owner}: entfernen oder an {user} übergeben</translation>
    </message>
    <message>
        <source>{folder} cannot be made: {problem}; set TMPDIR to another folder before &apos;ray start&apos;</source>
        <translation>{folder} kann nicht angelegt werden: {problem}; setzen Sie TMPDIR vor „ray start“ auf einen anderen Ordner</translation>
    </message>
    <message>
        <source>{folder} cannot be used: {error}</source>
        <translation>{folder} kann nicht verwendet werden: {error}</translation>
    </message>
    <message>
        <source>{folder} cannot be written to: {error}; choose another folder</source>
        <translation>{folder} ist nicht beschreibbar: {error}; einen anderen Ordner wählen</translation>
    </message>
    <message>
        <source>{folder} has several lists of labels for {classes} classes ({files}): choose one with {option}</source>
        <translation>{folder} hat mehrere Listen von Labels für {classes} Klassen ({files}): mit {option} eine wählen</translation>
    </message>
    <message>
        <source>{folder} is a symbolic link: remove the link</source>
        <translation>{folder} ist ein symbolischer Link: den Link entfernen</translation>
    </message>
    <message>
        <source>{gain:.1%} faster with {library} and kernels of our own for pairs of pointwise convolutions than with {tensorrt}</source>
        <translation>{gain:.1%} schneller mit {library} und eigenen Kerneln für Paare punktweiser Faltungen als mit {tensorrt}</translation>
    </message>
    <message>
        <source>{gain:.1%} faster with {library} than with {tensorrt}</source>
        <translation>{gain:.1%} schneller mit {library} als mit {tensorrt}</translation>
    </message>
    <message>
        <source>{gain:.1%} faster with {name} in a layer of its own</source>
        <translation>{gain:.1%} schneller mit {name} in einer eigenen Schicht</translation>
    </message>
    <message>
        <source>{host} cannot be reached ({reason}) for {address}: is this machine online? Otherwise {advice}</source>
        <translation>{host} ist nicht erreichbar ({reason}) für {address}: ist dieser Rechner online? Sonst {advice}</translation>
    </message>
    <message>
        <source>{key}= has no value</source>
        <translation>{key}= hat keinen Wert</translation>
    </message>
    <message>
        <source>{key}= is ignored, Darknet&apos;s option is {known}=</source>
        <translation>{key}= wird nicht beachtet, die Option von Darknet ist {known}=</translation>
    </message>
    <message>
        <source>{key}= is missing</source>
        <translation>{key}= fehlt</translation>
    </message>
    <message>
        <source>{key}={value} is not an earlier layer: the earlier layers are 0 to {last}, or {first} to -1</source>
        <translation>{key}={value} ist keine frühere Schicht: die früheren Schichten sind 0 bis {last}, oder {first} bis -1</translation>
    </message>
    <message>
        <source>{key}={value} is not an earlier layer: the earlier layers are none</source>
        <translation>{key}={value} ist keine frühere Schicht: es gibt keine</translation>
    </message>
    <message>
        <source>{key}={value} is not supported: use a model that was trained without it</source>
        <translation>{key}={value} ist nicht unterstützt: ein Modell verwenden, das ohne trainiert wurde</translation>
    </message>
    <message>
        <source>{key}={value} is outside {low}..{high}</source>
        <translation>{key}={value} liegt außerhalb von {low}..{high}</translation>
    </message>
    <message>
        <source>{key}={value} must be above {above:g} and at most {high:g}</source>
        <translation>{key}={value} muss über {above:g} und höchstens {high:g} sein</translation>
    </message>
    <message>
        <source>{key}={value}: &apos;{text}&apos; is not a number</source>
        <translation>{key}={value}: „{text}“ ist keine Zahl</translation>
    </message>
    <message>
        <source>{key}={value}: &apos;{text}&apos; is not a whole number</source>
        <translation>{key}={value}: „{text}“ ist keine ganze Zahl</translation>
    </message>
    <message>
        <source>{library} cannot compute {name} ({problem}): use {option}</source>
        <translation>{library} kann {name} nicht berechnen ({problem}): Verwenden Sie {option}</translation>
    </message>
    <message>
        <source>{library} cannot cut a network into stages: use {option}</source>
        <translation>{library} kann ein Netz nicht in Stufen schneiden: {option} verwenden</translation>
    </message>
    <message>
        <source>{library} has {share:.1%} of its speed</source>
        <translation>{library} hat {share:.1%} der Geschwindigkeit</translation>
    </message>
    <message>
        <source>{library} with pairs of convolutions</source>
        <translation>{library} mit Paaren von Faltungen</translation>
    </message>
    <message>
        <source>{names} and {more:,} more</source>
        <translation>{names} und {more:,} weitere</translation>
    </message>
    <message>
        <source>{name} at {width}×{height} needs at least {needed:.1f} GB of memory for one picture, but only {free:.1f} GB are free: use a smaller {size}, or close other programs</source>
        <translation>{name} mit {width}×{height} braucht mindestens {needed:.1f} GB Speicher für ein Bild, aber nur {free:.1f} GB sind frei: kleiner wählen ({size}), oder andere Programme beenden</translation>
    </message>
    <message>
        <source>{name} at {width}×{height} needs at least {needed:.1f} GB of memory for {count} pictures at once, but only {free:.1f} GB are free: use a smaller {batch} or {size}, or close other programs</source>
        <translation>{name} mit {width}×{height} braucht mindestens {needed:.1f} GB Speicher für {count} Bilder auf einmal, aber nur {free:.1f} GB sind frei: kleiner wählen ({batch} oder {size}), oder andere Programme beenden</translation>
    </message>
    <message>
        <source>{name} cannot be computed in fp16, because of {operators}: use fp32</source>
        <translation>{name} lässt sich wegen {operators} nicht in fp16 berechnen: Verwenden Sie fp32</translation>
    </message>
    <message>
        <source>{name} cannot be loaded ({problem}): {advice}</source>
        <translation>{name} lässt sich nicht laden ({problem}): {advice}</translation>
    </message>
    <message>
        <source>{name} crashed ({signal})</source>
        <translation>{name} stürzte ab ({signal})</translation>
    </message>
    <message>
        <source>{name} gave no sign of life for {seconds} s</source>
        <translation>{name} gab {seconds} s kein Lebenszeichen</translation>
    </message>
    <message>
        <source>{name} has {layers} layers: it cannot be cut into {stages} stages</source>
        <translation>{name} hat {layers} Schichten: das Netz lässt sich nicht in {stages} Stufen schneiden</translation>
    </message>
    <message>
        <source>{name} is an ONNX model, which cannot be cut into stages: use {option}</source>
        <translation>{name} ist ein ONNX-Modell, das sich nicht in Stufen zerlegen lässt: Verwenden Sie {option}</translation>
    </message>
    <message>
        <source>{name} is being downloaded already, by {holder}: wait until that has ended</source>
        <translation>{name} wird schon heruntergeladen, von {holder}: auf dessen Ende warten</translation>
    </message>
    <message>
        <source>{name} is not downloaded yet: &apos;framefleet models download {name}&apos; does it ({megabytes:.0f} MB)</source>
        <translation>{name} ist noch nicht heruntergeladen: „framefleet models download {name}“ tut es ({megabytes:.0f} MB)</translation>
    </message>
    <message>
        <source>{name} is {now}, it was {was}</source>
        <translation>{name} ist {now}, vorher {was}</translation>
    </message>
    <message>
        <source>{name} needs {needed:,.0f} MB more in {folder}, but only {free:,.0f} MB are free there: make room</source>
        <translation>{name} braucht {needed:,.0f} MB mehr in {folder}, aber nur {free:,.0f} MB sind dort frei: Platz schaffen</translation>
    </message>
    <message>
        <source>{name} was terminated ({signal})</source>
        <translation>{name} wurde beendet ({signal})</translation>
    </message>
    <message>
        <source>{name} {value:g} cannot be used: give {wanted}</source>
        <translation>{name} {value:g} ist nicht brauchbar: {wanted} angeben</translation>
    </message>
    <message>
        <source>{name}: lines and zones drawn for {drawn} pixels are scaled to {there}</source>
        <translation>{name}: Linien und Zonen, gezeichnet für {drawn} Pixel, werden auf {there} skaliert</translation>
    </message>
    <message>
        <source>{name}: {count:,} corrections are removed, because the frames are detected again</source>
        <translation>{name}: {count:,} Korrekturen entfallen, weil die Bilder erneut erkannt werden</translation>
    </message>
    <message>
        <source>{name}: {count} correction is removed, because the frames are detected again</source>
        <translation>{name}: {count} Korrektur entfällt, weil die Bilder erneut erkannt werden</translation>
    </message>
    <message>
        <source>{number:,} of the kind &apos;{kind}&apos;</source>
        <translation>{number:,} der Art „{kind}“</translation>
    </message>
    <message>
        <source>{number} labels of {path}</source>
        <translation>{number} Labels aus {path}</translation>
    </message>
    <message>
        <source>{option} is for models with COCO&apos;s labels, but label {number} is &apos;{label}&apos;, not &apos;{name}&apos;: leave it out</source>
        <translation>{option} ist für Modelle mit den Labels von COCO, aber Label {number} ist „{label}“, nicht „{name}“: weglassen</translation>
    </message>
    <message>
        <source>{option} is for models with COCO&apos;s {number} labels, and this one has {found}: leave it out</source>
        <translation>{option} ist für Modelle mit den {number} Labels von COCO, und dieses hat {found}: weglassen</translation>
    </message>
    <message>
        <source>{option} is for one machine: on a cluster, each device has its own process</source>
        <translation>{option} gilt für einen Rechner: In einem Cluster hat jedes Gerät seinen eigenen Prozess</translation>
    </message>
    <message>
        <source>{option} shares pictures within one machine, and a cluster shares segments: choose auto or streams</source>
        <translation>{option} teilt Bilder innerhalb eines Rechners auf, ein Cluster dagegen Segmente: Wählen Sie auto oder streams</translation>
    </message>
    <message>
        <source>{other} cannot be joined to {first}: they differ in {differing}</source>
        <translation>{other} lässt sich nicht mit {first} verbinden: sie unterscheiden sich in {differing}</translation>
    </message>
    <message>
        <source>{path} cannot be copied ({detail}); write exact clips</source>
        <translation>{path} lässt sich nicht kopieren ({detail}); genaue Ausschnitte schreiben</translation>
    </message>
    <message>
        <source>{path} cannot be deleted: {error}</source>
        <translation>{path} lässt sich nicht löschen: {error}</translation>
    </message>
    <message>
        <source>{path} cannot be read as {form}: {reason}</source>
        <translation>{path} kann nicht als {form} gelesen werden: {reason}</translation>
    </message>
    <message>
        <source>{path} cannot be read: {detail}</source>
        <translation>{path} kann nicht gelesen werden: {detail}</translation>
    </message>
    <message>
        <source>{path} cannot be read: {detail}; check the file&apos;s permissions</source>
        <translation>{path} ist nicht lesbar: {detail}; die Rechte der Datei prüfen</translation>
    </message>
    <message>
        <source>{path} cannot be read: {detail}; check the name and the file&apos;s permissions</source>
        <translation>{path} ist nicht lesbar: {detail}; den Namen und die Rechte der Datei prüfen</translation>
    </message>
    <message>
        <source>{path} cannot be read: {detail}; check the name and the folder&apos;s permissions</source>
        <translation>{path} ist nicht lesbar: {detail}; den Namen und die Rechte des Ordners prüfen</translation>
    </message>
    <message>
        <source>{path} cannot be repeated: {problem}; give an H.264 or HEVC file</source>
        <translation>{path} kann nicht wiederholt werden: {problem}; eine Datei mit H.264 oder HEVC angeben</translation>
    </message>
    <message>
        <source>{path} cannot be stored there: {problem}</source>
        <translation>{path} kann dort nicht gespeichert werden: {problem}</translation>
    </message>
    <message>
        <source>{path} cannot be used ({detail}): it is damaged or too large</source>
        <translation>{path} ist nicht brauchbar ({detail}): die Datei ist beschädigt oder zu groß</translation>
    </message>
    <message>
        <source>{path} cannot be written to: {error}</source>
        <translation>{path} ist nicht beschreibbar: {error}</translation>
    </message>
    <message>
        <source>{path} cannot be written: {error}</source>
        <translation>{path} lässt sich nicht schreiben: {error}</translation>
    </message>
    <message>
        <source>{path} cannot be written: {reason}; choose another place</source>
        <translation>{path} lässt sich nicht schreiben: {reason}; einen anderen Ort wählen</translation>
    </message>
    <message>
        <source>{path} changed while it was being read: try again</source>
        <translation>{path} hat sich beim Lesen geändert: noch einmal versuchen</translation>
    </message>
    <message>
        <source>{path} changed while it was read, so its results may mix two contents: run again when nothing writes to it</source>
        <translation>{path} wurde während des Lesens verändert, daher können die Ergebnisse zwei Inhalte mischen: erneut ausführen, wenn nichts mehr hineinschreibt</translation>
    </message>
    <message>
        <source>{path} claims pictures of {width}×{height}: at most {limit}×{limit} can be used</source>
        <translation>{path} meldet Bilder von {width}×{height}: höchstens {limit}×{limit} sind möglich</translation>
    </message>
    <message>
        <source>{path} describes a frame of {session} more than once: remove one description</source>
        <translation>{path} beschreibt ein Bild von {session} mehrmals: eine der Beschreibungen entfernen</translation>
    </message>
    <message>
        <source>{path} describes a task of {frames:,} frames, which are too many: divide it</source>
        <translation>{path} beschreibt eine Aufgabe mit {frames:,} Bildern, das sind zu viele: aufteilen</translation>
    </message>
    <message>
        <source>{path} does not belong to {cfg}: that network needs a weight file of exactly {expected:,} bytes, this one has {actual:,}; use a cfg and weights that were published together, or download the file again</source>
        <translation>{path} gehört nicht zu {cfg}: dieses Netz braucht eine Gewichtsdatei von genau {expected:,} Bytes, diese hat {actual:,}; zusammengehörige cfg und Gewichte verwenden, oder die Datei neu herunterladen</translation>
    </message>
    <message>
        <source>{path} does not have these classes: only {labels} were looked for</source>
        <translation>{path} hat diese Klassen nicht: gesucht wurden nur {labels}</translation>
    </message>
    <message>
        <source>{path} goes on at frame {frame}, where an earlier run stopped</source>
        <translation>{path} wird bei Bild {frame} fortgesetzt, wo ein früherer Lauf endete</translation>
    </message>
    <message>
        <source>{path} has changed since its detections were made: detect again, or export without pictures</source>
        <translation>{path} hat sich seit der Erkennung geändert: neu erkennen, oder ohne Bilder exportieren</translation>
    </message>
    <message>
        <source>{path} has changed since the detection, and the boxes are of the earlier video: detect again, or restore the file</source>
        <translation>{path} hat sich seit der Erkennung geändert, und die Rahmen gehören zum früheren Video: neu erkennen, oder die Datei wiederherstellen</translation>
    </message>
    <message>
        <source>{path} has changed since the detection, and the times are of the earlier video: detect again, or restore it</source>
        <translation>{path} hat sich seit der Erkennung geändert, und die Zeiten gehören zum früheren Video: neu erkennen, oder es wiederherstellen</translation>
    </message>
    <message>
        <source>{path} has more pictures than in an earlier run: it goes on at picture {picture}</source>
        <translation>{path} hat mehr Bilder als in einem früheren Lauf: es geht bei Bild {picture} weiter</translation>
    </message>
    <message>
        <source>{path} has more than {most} MiB when it is unpacked: unpack it, or divide it</source>
        <translation>{path} ist entpackt größer als {most} MiB: entpacken oder aufteilen</translation>
    </message>
    <message>
        <source>{path} has more than {objects:,} objects in {pictures:,} pictures. They need {needed} GB of memory, and {free} GB are free: divide the file</source>
        <translation>{path} hat mehr als {objects:,} Objekte in {pictures:,} Bildern. Sie brauchen {needed} GB Speicher, und {free} GB sind frei: Teilen Sie die Datei auf</translation>
    </message>
    <message>
        <source>{path} has no frame from {start:.3f} s to {end:.3f} s that can be decoded</source>
        <translation>{path} hat von {start:.3f} s bis {end:.3f} s kein dekodierbares Bild</translation>
    </message>
    <message>
        <source>{path} has no frames with times</source>
        <translation>{path} hat keine Bilder mit Zeiten</translation>
    </message>
    <message>
        <source>{path} has no label &apos;{label}&apos;: its labels are {labels}</source>
        <translation>{path} hat kein Label „{label}“: die Labels sind {labels}</translation>
    </message>
    <message>
        <source>{path} has no lines and zones, because they count tracks, and there are none</source>
        <translation>{path} hat keine Linien und Zonen, denn sie zählen Spuren, und es gibt keine</translation>
    </message>
    <message>
        <source>{path} has no pictures</source>
        <translation>{path} hat keine Bilder</translation>
    </message>
    <message>
        <source>{path} has no sections: is this a Darknet cfg?</source>
        <translation>{path} hat keine Abschnitte: ist es eine Darknet-cfg?</translation>
    </message>
    <message>
        <source>{path} has objects with the labels {labels}, which {session} does not know; its labels are {known}: give --map &apos;{first}=LABEL&apos;, or the truth for this model</source>
        <translation>{path} hat Objekte mit den Labels {labels}, die {session} nicht kennt; deren Labels sind {known}: --map &apos;{first}=LABEL&apos; angeben, oder die wahren Objekte für dieses Modell</translation>
    </message>
    <message>
        <source>{path} has only {count} bytes: it is not a Darknet weight file</source>
        <translation>{path} hat nur {count} Bytes: es ist keine Darknet-Gewichtsdatei</translation>
    </message>
    <message>
        <source>{path} has shapes that are not the outline of an object in the picture: {shapes}. Draw boxes, polygons, ellipses, masks or skeletons instead, or delete them</source>
        <translation>{path} hat Formen, die nicht der Umriss eines Objekts im Bild sind: {shapes}. Zeichnen Sie stattdessen Rahmen, Polygone, Ellipsen, Masken oder Skelette, oder löschen Sie sie</translation>
    </message>
    <message>
        <source>{path} has values in {data}, which is a symbolic link: put the file itself there</source>
        <translation>{path} hat Werte in {data}, und das ist eine symbolische Verknüpfung: Legen Sie die Datei selbst dorthin</translation>
    </message>
    <message>
        <source>{path} has {labels} labels, but the model has {classes} classes: choose the label file of this model</source>
        <translation>{path} hat {labels} Klassennamen, aber das Modell hat {classes} Klassen: die Namensdatei dieses Modells wählen</translation>
    </message>
    <message>
        <source>{path} has {length}, and {option} lies behind its end: begin earlier</source>
        <translation>{path} hat {length}, und {option} liegt hinter dem Ende: früher beginnen</translation>
    </message>
    <message>
        <source>{path} has {rows:,} rows, and spreadsheet programs show the first {limit:,} only: export fewer classes or a higher confidence, or choose the format parquet</source>
        <translation>{path} hat {rows:,} Zeilen, und Tabellenprogramme zeigen nur die ersten {limit:,}: weniger Klassen oder eine höhere Konfidenz exportieren, oder das Format parquet wählen</translation>
    </message>
    <message>
        <source>{path} has {size} GB, and a truth file may have {most} GB: divide it into smaller files</source>
        <translation>{path} hat {size} GB, und eine Datei mit wahren Objekten darf {most} GB haben: in kleinere Dateien aufteilen</translation>
    </message>
    <message>
        <source>{path} has {width}×{height} pixels: at most {limit}×{limit} can be used</source>
        <translation>{path} hat {width}×{height} Pixel: höchstens {limit}×{limit} sind möglich</translation>
    </message>
    <message>
        <source>{path} is a binary file, not a Darknet cfg (if it is a cfg, save it as UTF-8)</source>
        <translation>{path} ist eine Binärdatei, keine Darknet-cfg (falls doch, als UTF-8 speichern)</translation>
    </message>
    <message>
        <source>{path} is a folder: give one .cfg file in it ({cfgs})</source>
        <translation>{path} ist ein Ordner: eine .cfg-Datei darin angeben ({cfgs})</translation>
    </message>
    <message>
        <source>{path} is a folder: give the model&apos;s .cfg file</source>
        <translation>{path} ist ein Ordner: die .cfg-Datei des Modells angeben</translation>
    </message>
    <message>
        <source>{path} is a folder: give the recording itself, a JSON file</source>
        <translation>{path} ist ein Ordner: die Aufzeichnung selbst angeben, eine JSON-Datei</translation>
    </message>
    <message>
        <source>{path} is a pointer of Git LFS, not the file itself: &apos;git lfs pull&apos; in its repository fetches the file</source>
        <translation>{path} ist ein Verweis von Git LFS, nicht die Datei selbst: „git lfs pull“ im Repository holt die Datei</translation>
    </message>
    <message>
        <source>{path} is a weight file, not the description of a network: use {option}</source>
        <translation>{path} ist eine Gewichtsdatei, nicht die Beschreibung eines Netzes: {option} verwenden</translation>
    </message>
    <message>
        <source>{path} is a weight file: give the .cfg that belongs to it as the model, and {option}</source>
        <translation>{path} ist eine Gewichtsdatei: die zugehörige .cfg als Modell angeben, und {option}</translation>
    </message>
    <message>
        <source>{path} is larger than {mib} MiB: a Darknet cfg is a small text file</source>
        <translation>{path} ist größer als {mib} MiB: eine Darknet-cfg ist eine kleine Textdatei</translation>
    </message>
    <message>
        <source>{path} is no COCO truth: it needs images, annotations and categories ({reason})</source>
        <translation>{path} enthält keine wahren Objekte im COCO-Format: nötig sind images, annotations und categories ({reason})</translation>
    </message>
    <message>
        <source>{path} is no CVAT truth: {reason} is missing in an element</source>
        <translation>{path} enthält keine wahren Objekte im CVAT-Format: {reason} fehlt in einem Element</translation>
    </message>
    <message>
        <source>{path} is not UTF-8 text: save it as UTF-8</source>
        <translation>{path} ist kein UTF-8-Text: als UTF-8 speichern</translation>
    </message>
    <message>
        <source>{path} is not a file</source>
        <translation>{path} ist keine Datei</translation>
    </message>
    <message>
        <source>{path} is not a list of labels: a list of labels is a text file with one name per line</source>
        <translation>{path} ist keine Liste von Klassennamen: sie ist eine Textdatei mit einem Namen je Zeile</translation>
    </message>
    <message>
        <source>{path} is not a recording of a machine: {fault}; give a JSON file with NVML&apos;s values of each GPU in a list &apos;gpus&apos;</source>
        <translation>{path} ist keine Aufzeichnung eines Rechners: {fault}; eine JSON-Datei mit den NVML-Werten jeder GPU in einer Liste „gpus“ angeben</translation>
    </message>
    <message>
        <source>{path} is not a regular file: give a picture, or a folder of pictures</source>
        <translation>{path} ist keine normale Datei: ein Bild oder einen Ordner mit Bildern angeben</translation>
    </message>
    <message>
        <source>{path} is not a regular file: give a video, a picture or a folder of them</source>
        <translation>{path} ist keine normale Datei: ein Video, ein Bild oder einen Ordner damit angeben</translation>
    </message>
    <message>
        <source>{path} is not a text file of labels</source>
        <translation>{path} ist keine Textdatei mit Labels</translation>
    </message>
    <message>
        <source>{path} is not a truth file: give a COCO file (.json), a CVAT file (.xml), or a folder with labels of YOLO</source>
        <translation>{path} ist keine Datei mit wahren Objekten: eine COCO-Datei (.json), eine CVAT-Datei (.xml) oder einen Ordner mit YOLO-Labels angeben</translation>
    </message>
    <message>
        <source>{path} is not valid YAML: {reason}</source>
        <translation>{path} ist kein gültiges YAML: {reason}</translation>
    </message>
    <message>
        <source>{path} names no pictures, so nothing can be compared</source>
        <translation>{path} nennt keine Bilder, daher lässt sich nichts vergleichen</translation>
    </message>
    <message>
        <source>{path} needs more memory than this process may take: divide the file</source>
        <translation>{path} braucht mehr Speicher, als dieser Prozess belegen darf: die Datei aufteilen</translation>
    </message>
    <message>
        <source>{path} says that {picture} has {true} pixels, but in {session} it has {stored}: use the truth of the same pictures</source>
        <translation>nach {path} hat {picture} {true} Pixel, in {session} aber {stored}: die wahren Objekte derselben Bilder verwenden</translation>
    </message>
    <message>
        <source>{path}, line {line} has a character that cannot be printed: remove it</source>
        <translation>{path}, Zeile {line}, hat ein nicht druckbares Zeichen: es entfernen</translation>
    </message>
    <message>
        <source>{path}, line {line} is empty: every line must name a class</source>
        <translation>{path}, Zeile {line}, ist leer: jede Zeile muss eine Klasse nennen</translation>
    </message>
    <message>
        <source>{path}, line {line}, [{section}] (layer {layer}): {problem}</source>
        <translation>{path}, Zeile {line}, [{section}] (Schicht {layer}): {problem}</translation>
    </message>
    <message>
        <source>{path}, line {line}, [{section}]: {problem}</source>
        <translation>{path}, Zeile {line}, [{section}]: {problem}</translation>
    </message>
    <message>
        <source>{path}, line {line}: &apos;{text}&apos; is before the first section: a Darknet cfg begins with [net]</source>
        <translation>{path}, Zeile {line}: „{text}“ steht vor dem ersten Abschnitt: eine Darknet-cfg beginnt mit [net]</translation>
    </message>
    <message>
        <source>{path}, line {line}: &apos;{text}&apos; is neither a [section] nor option=value: is this a Darknet cfg?</source>
        <translation>{path}, Zeile {line}: „{text}“ ist weder ein [Abschnitt] noch Option=Wert: ist es eine Darknet-cfg?</translation>
    </message>
    <message>
        <source>{path}, line {line}: &apos;{text}&apos; is not a section: write it as [convolutional]</source>
        <translation>{path}, Zeile {line}: „{text}“ ist kein Abschnitt: als [convolutional] schreiben</translation>
    </message>
    <message>
        <source>{path}: the frame at {seconds:.3f} s cannot be converted ({detail})</source>
        <translation>{path}: das Bild bei {seconds:.3f} s lässt sich nicht umwandeln ({detail})</translation>
    </message>
    <message>
        <source>{path}: the frame at {seconds:.3f} s was not found again: detect again</source>
        <translation>{path}: das Bild bei {seconds:.3f} s wurde nicht wiedergefunden: neu erkennen</translation>
    </message>
    <message>
        <source>{path}: the input {input} takes no colour pictures of float32, float16 or bytes</source>
        <translation>{path}: Die Eingabe {input} nimmt keine Farbbilder in float32, float16 oder Bytes</translation>
    </message>
    <message>
        <source>{path}: the weights of [convolutional] (layer {layer}) are not all finite numbers: the training diverged, or the file is damaged; download it again or use an earlier one</source>
        <translation>{path}: die Gewichte von [convolutional] (Schicht {layer}) sind nicht alle endliche Zahlen: das Training lief auseinander, oder die Datei ist beschädigt; neu herunterladen, oder eine frühere verwenden</translation>
    </message>
    <message>
        <source>{path}: {container} cannot hold its codec {codec} ({detail}); write exact clips</source>
        <translation>{path}: {container} kann den Codec {codec} nicht enthalten ({detail}); genaue Ausschnitte schreiben</translation>
    </message>
    <message>
        <source>{precision} cannot be used: {problem}</source>
        <translation>{precision} lässt sich nicht verwenden: {problem}</translation>
    </message>
    <message>
        <source>{wanted} devices are to be measured, and there are {count}: {devices}</source>
        <translation>{wanted} Geräte sollen gemessen werden, und es gibt {count}: {devices}</translation>
    </message>
    <message>
        <source>{wanted} devices are to be measured, and there is {count}: {devices}</source>
        <translation>{wanted} Geräte sollen gemessen werden, und es gibt {count}: {devices}</translation>
    </message>
    <message>
        <source>{what} confirmed</source>
        <translation>{what} bestätigt</translation>
    </message>
    <message>
        <source>{what} deleted</source>
        <translation>{what} gelöscht</translation>
    </message>
    <message>
        <source>{what} did not come to an end within {limit:.0f} s</source>
        <translation>{what} endete nicht in {limit:.0f} s</translation>
    </message>
    <message>
        <source>{what} is {theirs} there and {ours} here</source>
        <translation>{what} ist dort {theirs} und hier {ours}</translation>
    </message>
    <message>
        <source>{what} labelled {label}</source>
        <translation>{what} als {label} bezeichnet</translation>
    </message>
    <message>
        <source>{where} has no tracks, and lines and zones count tracks: &apos;framefleet track {folder}&apos; adds them</source>
        <translation>{where} hat keine Spuren, und Linien und Zonen zählen Spuren: „framefleet track {folder}“ ergänzt sie</translation>
    </message>
    <message>
        <source>{path}, line {line}: &apos;{text}&apos; is not a label: write class, centre x, centre y, width, height as shares of the picture</source>
        <translation>{path}, Zeile {line}: „{text}“ ist kein Label: Klasse, Mitte x, Mitte y, Breite, Höhe als Anteile des Bildes schreiben</translation>
    </message>
    <message>
        <source>{path}: &apos;{key}&apos; is neither a list of labels nor labels by their numbers, such as 0: person</source>
        <translation>{path}: „{key}“ ist weder eine Liste von Labels noch Labels mit ihren Nummern, etwa 0: person</translation>
    </message>
    <message>
        <source>{path}: &apos;{one}&apos; and &apos;{other}&apos; are the same class of {session}</source>
        <translation>{path}: „{one}“ und „{other}“ sind dieselbe Klasse von {session}</translation>
    </message>
    <message>
        <source>{path}: a label has the class {class_id}, but there are {names} names of classes</source>
        <translation>{path}: ein Label hat die Klasse {class_id}, aber es gibt {names} Klassennamen</translation>
    </message>
    <message>
        <source>{path}: an object in {picture} has the box {box}: numbers must be finite, and width and height must not be below 0</source>
        <translation>{path}: ein Objekt in {picture} hat den Rahmen {box}: Zahlen müssen endlich sein, Breite und Höhe dürfen nicht unter 0 liegen</translation>
    </message>
    <message>
        <source>{path}: opening it ended the worker twice: {why}</source>
        <translation>{path}: beim Öffnen endete der Arbeitsprozess zweimal: {why}</translation>
    </message>
    <message>
        <source>{path}: there is no decoder for its video track; convert it to H.264</source>
        <translation>{path}: es gibt keinen Decoder für die Videospur; sie in H.264 umwandeln</translation>
    </message>
    <message>
        <source>{precision}: {gain:.2f}× the speed of fp32, {share:.1%} of its boxes equal ({matching:.0%} needed)</source>
        <translation>{precision}: {gain:.2f}× so schnell wie fp32, {share:.1%} der Rahmen gleich (nötig: {matching:.0%})</translation>
    </message>
    <message>
        <source>{session} does not have {missing:,} of the {pictures:,} pictures of {path} ({some}): detect in all of them, or give --common to compare the others only</source>
        <translation>{session} hat {missing:,} der {pictures:,} Bilder von {path} nicht ({some}): in allen erkennen, oder mit --common nur die anderen vergleichen</translation>
    </message>
    <message>
        <source>{session} has none of the {pictures:,} pictures of {path} ({some}); it is about {files}. Pictures are found by the names of their files. Frames of a video are found by the names that &apos;framefleet results --format coco&apos; gives them, by names like clip.mp4#12 or, if the session has one video, by their number</source>
        <translation>{session} hat keines der {pictures:,} Bilder von {path} ({some}); sie handelt von {files}. Bilder werden an den Namen ihrer Dateien erkannt. Bilder eines Videos werden an den Namen erkannt, die „framefleet results --format coco“ ihnen gibt, an Namen wie clip.mp4#12 oder, wenn die Sitzung ein Video hat, an ihrer Nummer</translation>
    </message>
    <message>
        <source>{shown} does not support compute capability {capability} (7.5 or newer is needed)</source>
        <translation>{shown} unterstützt Compute Capability {capability} nicht (nötig ist 7.5 oder neuer)</translation>
    </message>
    <message>
        <source>{shown} is too old: version {least} or newer is needed</source>
        <translation>{shown} ist zu alt: nötig ist Version {least} oder neuer</translation>
    </message>
    <message>
        <source>{shown} refuses compute capability {capability}: pip install tensorrt-rtx==1.6.1.120</source>
        <translation>{shown} lehnt Compute Capability {capability} ab: pip install tensorrt-rtx==1.6.1.120</translation>
    </message>
    <message>
        <source>the centre</source>
        <translation>der Mitte</translation>
    </message>
    <message>
        <source>the middle of the lower edge</source>
        <translation>der Mitte der Unterkante</translation>
    </message>
    <message>
        <source>the middle of the upper edge</source>
        <translation>der Mitte der Oberkante</translation>
    </message>
    <message>
        <source>{count} track, and it did not cross &apos;{line}&apos;: an object crosses with {point} of its box, between the ends of the line</source>
        <translation>{count} Spur, und sie kreuzte „{line}“ nicht: ein Objekt kreuzt mit {point} seines Rahmens, zwischen den Enden der Linie</translation>
    </message>
    <message>
        <source>{count} tracks, and none crossed &apos;{line}&apos;: an object crosses with {point} of its box, between the ends of the line</source>
        <translation>{count} Spuren, und keine kreuzte „{line}“: ein Objekt kreuzt mit {point} seines Rahmens, zwischen den Enden der Linie</translation>
    </message>
    <message>
        <source>{grid} that overlap by {overlap:.0%}</source>
        <translation>{grid}, die sich um {overlap:.0%} überlappen</translation>
    </message>
    <message>
        <source>{grid} that overlap by {overlap:.0%}, and the whole picture</source>
        <translation>{grid}, die sich um {overlap:.0%} überlappen, und das ganze Bild</translation>
    </message>
    <message>
        <source>{share:.0%} of the objects&apos; steps from one analysed frame to the next are longer than their boxes ({rate:.3g} frames/s): such objects get several numbers or none, and their crossings are missed. Analyse more frames a second (a smaller {option})</source>
        <translation>{share:.0%} der Schritte der Objekte von einem analysierten Bild zum nächsten sind länger als ihre Rahmen ({rate:.3g} Bilder/s): solche Objekte bekommen mehrere Nummern oder keine, und ihre Überquerungen fehlen. Mehr Bilder je Sekunde analysieren (kleiner wählen: {option})</translation>
    </message>
    <message>
        <source>{stages} stages, cut before layer {cuts} of {layers}: {times} ms a batch, {evenness:.0%} even, values move {how}</source>
        <translation>{stages} Stufen, geschnitten vor Schicht {cuts} von {layers}: {times} ms je Batch, {evenness:.0%} gleichmäßig, Werte gehen {how}</translation>
    </message>
    <message>
        <source>{stages} stages, cut before layers {cuts} of {layers}: {times} ms a batch, {evenness:.0%} even, values move {how}</source>
        <translation>{stages} Stufen, geschnitten vor den Schichten {cuts} von {layers}: {times} ms je Batch, {evenness:.0%} gleichmäßig, Werte gehen {how}</translation>
    </message>
    <message>
        <source>{together}; a video that cannot be cut stays on one device</source>
        <translation>{together}; ein Video, das sich nicht schneiden lässt, bleibt auf einem Gerät</translation>
    </message>
    <message>
        <source>{together}; but these {count} videos cannot be cut and stay on one device each: {option} may be faster, it shares single frames among all devices</source>
        <translation>{together}; aber diese {count} Videos lassen sich nicht schneiden und bleiben auf je einem Gerät: {option} kann schneller sein, das verteilt einzelne Bilder auf alle Geräte</translation>
    </message>
    <message>
        <source>{together}; but this video cannot be cut and stays on one device: {option} may be faster, it shares single frames among all devices</source>
        <translation>{together}; aber dieses Video lässt sich nicht schneiden und bleibt auf einem Gerät: {option} kann schneller sein, das verteilt einzelne Bilder auf alle Geräte</translation>
    </message>
    <message>
        <source>{tracks} are both in frame {frame} of {source}, so they are different objects</source>
        <translation>{tracks} sind beide in Bild {frame} von {source}, also verschiedene Objekte</translation>
    </message>
    <message>
        <source>{tracks} of {source} joined</source>
        <translation>{tracks} von {source} verbunden</translation>
    </message>
    <message>
        <source>{track} is in frames {first} to {last}: give a frame behind the first one, up to the last one</source>
        <translation>{track} ist in den Bildern {first} bis {last}: ein Bild nach dem ersten, höchstens das letzte angeben</translation>
    </message>
    <message>
        <source>{track} split at frame {frame}, the new track is {new}</source>
        <translation>{track} bei Bild {frame} geteilt, die neue Spur ist {new}</translation>
    </message>
    <message>
        <source>{what} has a name of {number} letters: at most {highest} are possible</source>
        <translation>{what} hat einen Namen von {number} Zeichen: höchstens {highest} sind möglich</translation>
    </message>
    <message>
        <source>{what} has no key &apos;{name}&apos;</source>
        <translation>{what} hat keinen Schlüssel „{name}“</translation>
    </message>
    <message>
        <source>{what} has the name {value}: a name is a text</source>
        <translation>{what} hat den Namen {value}: ein Name ist ein Text</translation>
    </message>
    <message>
        <source>{what} has the unknown key &apos;{name}&apos;: its keys are {keys}</source>
        <translation>{what} hat den unbekannten Schlüssel „{name}“: die Schlüssel sind {keys}</translation>
    </message>
    <message>
        <source>{what} has {number} numbers: a point is [x, y]</source>
        <translation>{what} hat {number} Zahlen: ein Punkt ist [x, y]</translation>
    </message>
    <message>
        <source>{what} has {value} among its classes: they are labels, such as &quot;car&quot;</source>
        <translation>{what} hat {value} unter den Klassen: sie sind Labels, etwa &quot;car&quot;</translation>
    </message>
    <message>
        <source>{what} is not a finite number</source>
        <translation>{what} ist keine endliche Zahl</translation>
    </message>
    <message>
        <source>{what} is {value}, but must be a list</source>
        <translation>{what} ist {value}, muss aber eine Liste sein</translation>
    </message>
    <message>
        <source>{what} is {value}, but must be an object with the keys {keys}</source>
        <translation>{what} ist {value}, muss aber ein Objekt mit den Schlüsseln {keys} sein</translation>
    </message>
    <message>
        <source>{what} is {value}: write a number</source>
        <translation>{what} ist {value}: eine Zahl schreiben</translation>
    </message>
</context>
<context>
    <name>events</name>
    <message numerus="yes">
        <source>%Ln detections</source>
        <translation>
            <numerusform>%Ln Erkennung</numerusform>
            <numerusform>%Ln Erkennungen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln events</source>
        <translation>
            <numerusform>%Ln Ereignis</numerusform>
            <numerusform>%Ln Ereignisse</numerusform>
        </translation>
    </message>
    <message>
        <source>A clip for</source>
        <translation>Ein Ausschnitt für</translation>
    </message>
    <message>
        <source>Appearances</source>
        <translation>Auftritte</translation>
    </message>
    <message>
        <source>CSV…</source>
        <translation>CSV …</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Choose a folder.</source>
        <translation>Wählen Sie einen Ordner.</translation>
    </message>
    <message>
        <source>Class</source>
        <translation>Klasse</translation>
    </message>
    <message>
        <source>Class, track or place</source>
        <translation>Klasse, Spur oder Ort</translation>
    </message>
    <message>
        <source>Clips</source>
        <translation>Ausschnitte</translation>
    </message>
    <message>
        <source>Clips are cut out of videos, and this is a folder of pictures.</source>
        <translation>Ausschnitte gibt es von Videos, und dies ist ein Ordner mit Bildern.</translation>
    </message>
    <message>
        <source>Clips…</source>
        <translation>Ausschnitte …</translation>
    </message>
    <message>
        <source>Confidence</source>
        <translation>Konfidenz</translation>
    </message>
    <message>
        <source>Counts over time</source>
        <translation>Zeitverlauf</translation>
    </message>
    <message>
        <source>Crossings</source>
        <translation>Überquerungen</translation>
    </message>
    <message>
        <source>Cut the appearances of objects out of the video</source>
        <translation>Die Auftritte von Objekten aus dem Video schneiden</translation>
    </message>
    <message>
        <source>Detections</source>
        <translation>Erkennungen</translation>
    </message>
    <message>
        <source>Detections from {confidence} confidence, {classes}, as the window shows them.</source>
        <translation>Erkennungen ab {confidence} Konfidenz, {classes}, wie im Fenster gezeigt.</translation>
    </message>
    <message>
        <source>Each time a class appears</source>
        <translation>Jeden Auftritt einer Klasse</translation>
    </message>
    <message>
        <source>Each track</source>
        <translation>Jede Spur</translation>
    </message>
    <message>
        <source>Event</source>
        <translation>Ereignis</translation>
    </message>
    <message>
        <source>Events</source>
        <translation>Ereignisse</translation>
    </message>
    <message>
        <source>Events in their own window, or back here</source>
        <translation>Ereignisse in eigenem Fenster, oder wieder hier</translation>
    </message>
    <message>
        <source>Exact: encoded again, which takes longer</source>
        <translation>Genau: neu kodiert, das dauert länger</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>Ordner</translation>
    </message>
    <message>
        <source>Frame</source>
        <translation>Bild</translation>
    </message>
    <message>
        <source>From</source>
        <translation>Von</translation>
    </message>
    <message>
        <source>From the first line or zone of a track to its last one.</source>
        <translation>Von der ersten Linie oder Zone einer Spur zu ihrer letzten.</translation>
    </message>
    <message>
        <source>Kind of event</source>
        <translation>Art des Ereignisses</translation>
    </message>
    <message>
        <source>Length</source>
        <translation>Länge</translation>
    </message>
    <message>
        <source>Looking for appearances…</source>
        <translation>Auftritte werden gesucht …</translation>
    </message>
    <message>
        <source>Method</source>
        <translation>Verfahren</translation>
    </message>
    <message numerus="yes">
        <source>More than %Ln clips are not written: show fewer classes or a higher confidence.</source>
        <translation>
            <numerusform>Mehr als %Ln Ausschnitt wird nicht geschrieben: Zeigen Sie weniger Klassen oder eine höhere Konfidenz.</numerusform>
            <numerusform>Mehr als %Ln Ausschnitte werden nicht geschrieben: Zeigen Sie weniger Klassen oder eine höhere Konfidenz.</numerusform>
        </translation>
    </message>
    <message>
        <source>No file was written.</source>
        <translation>Es wurde keine Datei geschrieben.</translation>
    </message>
    <message>
        <source>Nothing that is shown appears in this video.</source>
        <translation>Nichts von dem, was angezeigt wird, tritt in diesem Video auf.</translation>
    </message>
    <message>
        <source>Picture</source>
        <translation>Bild</translation>
    </message>
    <message>
        <source>Reading the detections…</source>
        <translation>Die Erkennungen werden gelesen …</translation>
    </message>
    <message>
        <source>Routes</source>
        <translation>Routen</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>Seconds around</source>
        <translation>Sekunden davor, danach</translation>
    </message>
    <message>
        <source>Seconds before and after</source>
        <translation>Sekunden davor und danach</translation>
    </message>
    <message>
        <source>Show in folder</source>
        <translation>Im Ordner zeigen</translation>
    </message>
    <message>
        <source>The chosen part</source>
        <translation>Der gewählte Abschnitt</translation>
    </message>
    <message>
        <source>The clips were not written</source>
        <translation>Die Ausschnitte wurden nicht geschrieben</translation>
    </message>
    <message>
        <source>The events are listed when the file is done.</source>
        <translation>Die Ereignisse werden aufgelistet, wenn die Datei fertig ist.</translation>
    </message>
    <message>
        <source>The picture in which the model is most confident</source>
        <translation>Das Bild mit der höchsten Konfidenz</translation>
    </message>
    <message>
        <source>There is nothing to cut</source>
        <translation>Es gibt nichts auszuschneiden</translation>
    </message>
    <message>
        <source>This file only</source>
        <translation>Nur diese Datei</translation>
    </message>
    <message>
        <source>To</source>
        <translation>Nach</translation>
    </message>
    <message>
        <source>Tracks</source>
        <translation>Spuren</translation>
    </message>
    <message>
        <source>Where to write the files</source>
        <translation>Zielordner für die Dateien</translation>
    </message>
    <message>
        <source>Write clips</source>
        <translation>Ausschnitte schreiben</translation>
    </message>
    <message>
        <source>later</source>
        <translation>später</translation>
    </message>
    <message>
        <source>{count}. The others are listed when the file is done.</source>
        <translation>{count}. Die weiteren werden aufgelistet, wenn die Datei fertig ist.</translation>
    </message>
    <message>
        <source>{next}, {previous}: next, previous</source>
        <translation>{next}, {previous}: nächstes, voriges</translation>
    </message>
    <message>
        <source>{written} of {total} files</source>
        <translation>{written} von {total} Dateien</translation>
    </message>
    <message>
        <source>Writing clips…</source>
        <translation>Ausschnitte werden geschrieben …</translation>
    </message>
    <message numerus="yes">
        <source>Wrote %Ln files to {folder}.</source>
        <translation>
            <numerusform>%Ln Datei nach {folder} geschrieben.</numerusform>
            <numerusform>%Ln Dateien nach {folder} geschrieben.</numerusform>
        </translation>
    </message>
    <message>
        <source>all classes</source>
        <translation>alle Klassen</translation>
    </message>
    <message>
        <source>appears</source>
        <translation>erscheint</translation>
    </message>
    <message>
        <source>class {number}</source>
        <translation>Klasse {number}</translation>
    </message>
    <message>
        <source>no other place</source>
        <translation>kein anderer Ort</translation>
    </message>
    <message>
        <source>Search events</source>
        <translation>Ereignisse suchen</translation>
    </message>
    <message numerus="yes">
        <source>%Ln classes</source>
        <translation>
            <numerusform>%Ln Klasse</numerusform>
            <numerusform>%Ln Klassen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln clips, {length} in all.</source>
        <translation>
            <numerusform>%Ln Ausschnitt, zusammen {length}.</numerusform>
            <numerusform>%Ln Ausschnitte, zusammen {length}.</numerusform>
        </translation>
    </message>
    <message>
        <source>All</source>
        <translation>Alle</translation>
    </message>
    <message>
        <source>Also save the best picture of each appearance</source>
        <translation>Auch das beste Bild jedes Auftritts speichern</translation>
    </message>
    <message>
        <source>Clips are cut out of analysed videos. Open one first.</source>
        <translation>Ausschnitte gibt es von analysierten Videos. Öffnen Sie zuerst eines.</translation>
    </message>
    <message>
        <source>Fast: copied from the keyframe before</source>
        <translation>Schnell: kopiert, ab dem Keyframe davor</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>The detections are listed when the file is done.</source>
        <translation>Die Erkennungen werden aufgelistet, wenn die Datei fertig ist.</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>Track</source>
        <translation>Spur</translation>
    </message>
    <message>
        <source>Visits to zones</source>
        <translation>Aufenthalte in Zonen</translation>
    </message>
    <message>
        <source>Writing clips was cancelled</source>
        <translation>Das Schreiben der Ausschnitte wurde abgebrochen</translation>
    </message>
    <message>
        <source>crosses {line} backward</source>
        <translation>überquert {line} rückwärts</translation>
    </message>
    <message>
        <source>crosses {line} forward</source>
        <translation>überquert {line} vorwärts</translation>
    </message>
    <message>
        <source>is in {zone}</source>
        <translation>ist in {zone}</translation>
    </message>
    <message>
        <source>{seconds} s</source>
        <translation>{seconds} s</translation>
    </message>
</context>
<context>
    <name>exporters</name>
    <message>
        <source>A copy of the video with the boxes drawn into it</source>
        <translation>Eine Kopie des Videos mit eingezeichneten Rahmen</translation>
    </message>
    <message>
        <source>A line per frame, for programs of your own</source>
        <translation>Eine Zeile je Bild, für eigene Programme</translation>
    </message>
    <message>
        <source>A row each time an object appears, crosses a line or is in a zone, for spreadsheets</source>
        <translation>Eine Zeile je Auftritt, Überquerung oder Aufenthalt eines Objekts, für Tabellenprogramme</translation>
    </message>
    <message>
        <source>A row per detection, counts per interval and a row per file, for spreadsheets, R and pandas</source>
        <translation>Eine Zeile je Erkennung, Zahlen je Zeitraum und eine Zeile je Datei, für Tabellenprogramme, R und pandas</translation>
    </message>
    <message>
        <source>A row per detection, small and fast, for pandas, DuckDB and Spark</source>
        <translation>Eine Zeile je Erkennung, klein und schnell, für pandas, DuckDB und Spark</translation>
    </message>
    <message>
        <source>Annotated video</source>
        <translation>Video mit Rahmen</translation>
    </message>
    <message>
        <source>Annotations to correct in CVAT</source>
        <translation>Annotationen zum Korrigieren in CVAT</translation>
    </message>
    <message>
        <source>Boxes as COCO, for pycocotools and labelling tools</source>
        <translation>Rahmen als COCO, für pycocotools und Annotationswerkzeuge</translation>
    </message>
    <message>
        <source>Boxes per video, for trackers and TrackEval</source>
        <translation>Rahmen je Video, für Tracker und TrackEval</translation>
    </message>
    <message>
        <source>COCO</source>
        <translation>COCO</translation>
    </message>
    <message>
        <source>CSV tables</source>
        <translation>CSV-Tabellen</translation>
    </message>
    <message>
        <source>CVAT</source>
        <translation>CVAT</translation>
    </message>
    <message>
        <source>Counts at lines and zones</source>
        <translation>Zählungen an Linien und Zonen</translation>
    </message>
    <message>
        <source>Crossings, times in zones, counts per interval and routes, for spreadsheets: needs tracks, and lines or zones</source>
        <translation>Überquerungen, Zeiten in Zonen, Zahlen je Zeitraum und Routen, für Tabellenprogramme: braucht Spuren und Linien oder Zonen</translation>
    </message>
    <message>
        <source>JSON Lines</source>
        <translation>JSON Lines</translation>
    </message>
    <message>
        <source>Label Studio</source>
        <translation>Label Studio</translation>
    </message>
    <message>
        <source>Labels and, if you like, pictures, to train a YOLO model with</source>
        <translation>Labels und auf Wunsch Einzelbilder, um ein YOLO-Modell zu trainieren</translation>
    </message>
    <message>
        <source>List of events</source>
        <translation>Liste der Ereignisse</translation>
    </message>
    <message>
        <source>MOTChallenge</source>
        <translation>MOTChallenge</translation>
    </message>
    <message>
        <source>MegaDetector</source>
        <translation>MegaDetector</translation>
    </message>
    <message>
        <source>Parquet</source>
        <translation>Parquet</translation>
    </message>
    <message>
        <source>Predictions to correct in Label Studio</source>
        <translation>Vorhersagen zum Korrigieren in Label Studio</translation>
    </message>
    <message>
        <source>Results of camera traps, for Timelapse and AddaxAI</source>
        <translation>Ergebnisse von Wildkameras, für Timelapse und AddaxAI</translation>
    </message>
    <message>
        <source>YOLO data set</source>
        <translation>YOLO-Datensatz</translation>
    </message>
</context>
<context>
    <name>keys</name>
    <message>
        <source>1 second back</source>
        <translation>1 Sekunde zurück</translation>
    </message>
    <message>
        <source>1 second forward</source>
        <translation>1 Sekunde vor</translation>
    </message>
    <message>
        <source>5 seconds back</source>
        <translation>5 Sekunden zurück</translation>
    </message>
    <message>
        <source>5 seconds forward</source>
        <translation>5 Sekunden vor</translation>
    </message>
    <message>
        <source>Another file of the queue</source>
        <translation>Andere Datei</translation>
    </message>
    <message>
        <source>Begin a part of the video here</source>
        <translation>Einen Abschnitt hier beginnen</translation>
    </message>
    <message>
        <source>Begin a part, while the mouse or the focus is on the timeline</source>
        <translation>Mit Maus oder Fokus auf der Zeitleiste: hier einen Abschnitt beginnen</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Change…</source>
        <translation>Ändern …</translation>
    </message>
    <message>
        <source>Choose the whole video again</source>
        <translation>Wieder das ganze Video wählen</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>Befehl</translation>
    </message>
    <message>
        <source>Commands</source>
        <translation>Befehle</translation>
    </message>
    <message>
        <source>End the part here</source>
        <translation>Den Abschnitt hier beenden</translation>
    </message>
    <message>
        <source>Faster</source>
        <translation>Schneller</translation>
    </message>
    <message>
        <source>First frame</source>
        <translation>Erstes Bild</translation>
    </message>
    <message>
        <source>Fit an enlarged picture again</source>
        <translation>Vergrößerte Ansicht wieder einpassen</translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>Tasten</translation>
    </message>
    <message>
        <source>Keys are off while you type in a field.</source>
        <translation>Tasten sind aus, solange Sie in ein Feld schreiben.</translation>
    </message>
    <message>
        <source>Last frame</source>
        <translation>Letztes Bild</translation>
    </message>
    <message>
        <source>Move between the parts of the window</source>
        <translation>Zwischen den Teilen des Fensters wechseln</translation>
    </message>
    <message>
        <source>Move the file in the queue</source>
        <translation>Datei in der Liste verschieben</translation>
    </message>
    <message>
        <source>New key</source>
        <translation>Neue Taste</translation>
    </message>
    <message>
        <source>Next frame</source>
        <translation>Nächstes Bild</translation>
    </message>
    <message>
        <source>Correct: choose another class</source>
        <translation>Korrektur: andere Klasse wählen</translation>
    </message>
    <message>
        <source>Changed. Default: {keys}</source>
        <translation>Geändert. Standard: {keys}</translation>
    </message>
    <message>
        <source>Compare: next frame that differs</source>
        <translation>Vergleichen: nächstes Bild mit Unterschied</translation>
    </message>
    <message>
        <source>Compare: only what differs</source>
        <translation>Vergleichen: nur Unterschiede</translation>
    </message>
    <message>
        <source>Compare: previous frame that differs</source>
        <translation>Vergleichen: voriges Bild mit Unterschied</translation>
    </message>
    <message>
        <source>Correct: confirm the object</source>
        <translation>Korrektur: Objekt bestätigen</translation>
    </message>
    <message>
        <source>Correct: draw a missing object</source>
        <translation>Korrigieren: ein fehlendes Objekt zeichnen</translation>
    </message>
    <message>
        <source>Correct: join two tracks</source>
        <translation>Korrektur: zwei Spuren verbinden</translation>
    </message>
    <message>
        <source>Correct: next object of the picture</source>
        <translation>Korrektur: nächstes Objekt des Bildes</translation>
    </message>
    <message>
        <source>Correct: previous object of the picture</source>
        <translation>Korrektur: voriges Objekt des Bildes</translation>
    </message>
    <message>
        <source>Correct: split the track</source>
        <translation>Korrektur: Spur teilen</translation>
    </message>
    <message>
        <source>Correct: the whole track or one detection</source>
        <translation>Korrektur: ganze Spur oder ein Objekt</translation>
    </message>
    <message>
        <source>Next event of the list</source>
        <translation>Nächstes Ereignis der Liste</translation>
    </message>
    <message>
        <source>Next start of a shown class</source>
        <translation>Nächster Beginn einer gezeigten Klasse</translation>
    </message>
    <message>
        <source>No key</source>
        <translation>Keine Taste</translation>
    </message>
    <message>
        <source>Pause at normal speed</source>
        <translation>Anhalten, normales Tempo</translation>
    </message>
    <message>
        <source>Play backwards; again: twice as fast</source>
        <translation>Rückwärts abspielen; nochmals: doppelt so schnell</translation>
    </message>
    <message>
        <source>Play or pause</source>
        <translation>Abspielen oder anhalten</translation>
    </message>
    <message>
        <source>Play; again: twice as fast</source>
        <translation>Abspielen; nochmals: doppelt so schnell</translation>
    </message>
    <message>
        <source>Press the new key for “{command}”.</source>
        <translation>Drücken Sie die neue Taste für „{command}“.</translation>
    </message>
    <message>
        <source>Previous event of the list</source>
        <translation>Voriges Ereignis der Liste</translation>
    </message>
    <message>
        <source>Previous frame</source>
        <translation>Voriges Bild</translation>
    </message>
    <message>
        <source>Previous start of a shown class</source>
        <translation>Voriger Beginn einer gezeigten Klasse</translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation>Alles zurücksetzen</translation>
    </message>
    <message>
        <source>Save the picture with its boxes</source>
        <translation>Das Bild mit Rahmen speichern</translation>
    </message>
    <message>
        <source>Save the picture without boxes</source>
        <translation>Das Bild ohne Rahmen speichern</translation>
    </message>
    <message>
        <source>Search commands and keys</source>
        <translation>Befehle und Tasten suchen</translation>
    </message>
    <message>
        <source>Slower</source>
        <translation>Langsamer</translation>
    </message>
    <message>
        <source>Statistics over the picture</source>
        <translation>Statistik über dem Video</translation>
    </message>
    <message>
        <source>These keys cannot be changed.</source>
        <translation>Diese Tasten lassen sich nicht ändern.</translation>
    </message>
    <message>
        <source>Use it here</source>
        <translation>Hier verwenden</translation>
    </message>
    <message>
        <source>Wait for detection, on or off</source>
        <translation>Auf Erkennung warten, ein oder aus</translation>
    </message>
    <message>
        <source>{key} already means: {command}.</source>
        <translation>{key} bedeutet bereits: {command}.</translation>
    </message>
    <message>
        <source>{key} always means: {command}. Press another key.</source>
        <translation>{key} bedeutet immer: {command}. Drücken Sie eine andere Taste.</translation>
    </message>
</context>
<context>
    <name>messages</name>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Details of the error</source>
        <translation>Einzelheiten zum Fehler</translation>
    </message>
    <message>
        <source>Details…</source>
        <translation>Einzelheiten …</translation>
    </message>
    <message numerus="yes">
        <source>Detection has not finished in %Ln files.</source>
        <translation>
            <numerusform>Die Erkennung ist in %Ln Datei nicht abgeschlossen.</numerusform>
            <numerusform>Die Erkennung ist in %Ln Dateien nicht abgeschlossen.</numerusform>
        </translation>
    </message>
    <message>
        <source>An error inside Framefleet</source>
        <translation>Ein Fehler in Framefleet</translation>
    </message>
    <message numerus="yes">
        <source>%Ln files failed.</source>
        <translation>
            <numerusform>%Ln Datei ist fehlgeschlagen.</numerusform>
            <numerusform>%Ln Dateien sind fehlgeschlagen.</numerusform>
        </translation>
    </message>
    <message>
        <source>Detection has ended</source>
        <translation>Die Erkennung ist beendet</translation>
    </message>
    <message numerus="yes">
        <source>Detection has ended in %Ln files.</source>
        <translation>
            <numerusform>Die Erkennung ist in %Ln Datei beendet.</numerusform>
            <numerusform>Die Erkennung ist in %Ln Dateien beendet.</numerusform>
        </translation>
    </message>
    <message>
        <source>Detection runs on the CPU</source>
        <translation>Die Erkennung läuft auf der CPU</translation>
    </message>
    <message>
        <source>Detection stopped</source>
        <translation>Die Erkennung wurde angehalten</translation>
    </message>
    <message>
        <source>Finished frames are stored. At the next start you can continue where detection stopped.</source>
        <translation>Fertige Bilder sind gespeichert. Beim nächsten Start können Sie dort weitermachen, wo die Erkennung aufgehört hat.</translation>
    </message>
    <message>
        <source>Keep detecting</source>
        <translation>Weiterlaufen lassen</translation>
    </message>
    <message>
        <source>Not usable: {reasons}</source>
        <translation>Nicht verwendbar: {reasons}</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>Beenden</translation>
    </message>
    <message>
        <source>Quit Framefleet</source>
        <translation>Framefleet beenden</translation>
    </message>
    <message>
        <source>Settings…</source>
        <translation>Einstellungen …</translation>
    </message>
    <message>
        <source>That is not possible</source>
        <translation>Das ist nicht möglich</translation>
    </message>
    <message>
        <source>The preview process ended</source>
        <translation>Der Vorschauprozess ist ausgefallen</translation>
    </message>
    <message>
        <source>What was analysed is stored. Streams have to be opened again at the next start.</source>
        <translation>Was analysiert wurde, ist gespeichert. Streams müssen beim nächsten Start wieder geöffnet werden.</translation>
    </message>
    <message>
        <source>{device} failed and is out of this run</source>
        <translation>{device} ist ausgefallen und nimmt an diesem Lauf nicht mehr teil</translation>
    </message>
    <message>
        <source>{device} is being restarted</source>
        <translation>{device} wird neu gestartet</translation>
    </message>
    <message>
        <source>{name}: {done} finished</source>
        <translation>{name}: {done} fertig</translation>
    </message>
    <message>
        <source>{name}: {frames} analysed</source>
        <translation>{name}: {frames} analysiert</translation>
    </message>
    <message>
        <source>{reason}. It is not started again for this file. Detection continues.</source>
        <translation>{reason}. Er wird für diese Datei nicht neu gestartet. Die Erkennung läuft weiter.</translation>
    </message>
    <message>
        <source>{reason}. It was started again. Detection continues.</source>
        <translation>{reason}. Er wurde neu gestartet. Die Erkennung läuft weiter.</translation>
    </message>
    <message>
        <source>{summary}. Results of running work may be incomplete. Please report this error.</source>
        <translation>{summary}. Ergebnisse laufender Arbeiten können unvollständig sein. Bitte melden Sie diesen Fehler.</translation>
    </message>
    <message>
        <source>This is also in the log: {log}</source>
        <translation>Auch im Protokoll: {log}</translation>
    </message>
</context>
<context>
    <name>models</name>
    <message>
        <source> · {speed} MB/s · {remaining} left</source>
        <translation> · {speed} MB/s · noch {remaining}</translation>
    </message>
    <message>
        <source>1. Detect in the same videos with both models. Each run is stored as a session.</source>
        <translation>1. Lassen Sie beide Modelle dieselben Videos bearbeiten. Jeder Lauf wird als Sitzung gespeichert.</translation>
    </message>
    <message>
        <source>2. Mark the true objects in a tool such as CVAT, and export them as COCO, CVAT or YOLO.</source>
        <translation>2. Markieren Sie die wahren Objekte, zum Beispiel mit CVAT, und exportieren Sie sie als COCO, CVAT oder YOLO.</translation>
    </message>
    <message>
        <source>3. Run this command in a terminal, with the folders of both sessions and your true objects:</source>
        <translation>3. Führen Sie diesen Befehl in einem Terminal aus, mit den Ordnern beider Sitzungen und Ihren wahren Objekten:</translation>
    </message>
    <message>
        <source>330 frames/s on an RTX 2070</source>
        <translation>330 Bilder/s auf einer RTX 2070</translation>
    </message>
    <message>
        <source>4. Open the evaluation.json that it writes.</source>
        <translation>4. Öffnen Sie die evaluation.json, die er schreibt.</translation>
    </message>
    <message>
        <source>50 frames/s on a Tesla V100</source>
        <translation>50 Bilder/s auf einer Tesla V100</translation>
    </message>
    <message>
        <source>62 frames/s on a Tesla V100</source>
        <translation>62 Bilder/s auf einer Tesla V100</translation>
    </message>
    <message>
        <source>93 frames/s on a Tesla V100</source>
        <translation>93 Bilder/s auf einer Tesla V100</translation>
    </message>
    <message>
        <source>A good first choice: better than YOLOv4, less work.</source>
        <translation>Eine gute erste Wahl: besser als YOLOv4, weniger Rechenarbeit.</translation>
    </message>
    <message>
        <source>A wider and deeper YOLOv4-CSP. For a GPU.</source>
        <translation>Ein breiteres und tieferes YOLOv4-CSP. Für eine GPU.</translation>
    </message>
    <message>
        <source>Accuracy against speed: {models}</source>
        <translation>Genauigkeit gegen Geschwindigkeit: {models}</translation>
    </message>
    <message>
        <source>Accurate</source>
        <translation>Genau</translation>
    </message>
    <message>
        <source>Also ran on this machine; the throughput is that of the newest run</source>
        <translation>Lief auch auf diesem Rechner; der Durchsatz ist der des neuesten Laufs</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>Ausgewogen</translation>
    </message>
    <message>
        <source>By far the fastest. For machines without a GPU.</source>
        <translation>Bei weitem das schnellste. Für Rechner ohne GPU.</translation>
    </message>
    <message>
        <source>COCO AP, %</source>
        <translation>COCO-AP, %</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Cancelling…</source>
        <translation>Wird abgebrochen …</translation>
    </message>
    <message>
        <source>Checking…</source>
        <translation>Wird geprüft …</translation>
    </message>
    <message>
        <source>Choose a model</source>
        <translation>Modell wählen</translation>
    </message>
    <message>
        <source>Choose model…</source>
        <translation>Modell wählen …</translation>
    </message>
    <message>
        <source>Choose the .cfg file that belongs to {weights}.</source>
        <translation>Wählen Sie die .cfg-Datei, die zu {weights} gehört.</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>Befehl</translation>
    </message>
    <message>
        <source>Compare two models…</source>
        <translation>Zwei Modelle vergleichen …</translation>
    </message>
    <message>
        <source>Comparison of models</source>
        <translation>Vergleich von Modellen</translation>
    </message>
    <message>
        <source>Computation for one picture: half as much takes about half the time</source>
        <translation>Rechenaufwand für ein Bild: Halb so viel dauert etwa halb so lang</translation>
    </message>
    <message>
        <source>Connecting…</source>
        <translation>Verbindung wird aufgebaut …</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Delete it from {folder}</source>
        <translation>Aus {folder} löschen</translation>
    </message>
    <message>
        <source>Difference</source>
        <translation>Unterschied</translation>
    </message>
    <message>
        <source>Discard</source>
        <translation>Verwerfen</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>Herunterladen</translation>
    </message>
    <message>
        <source>Downloading {names}.</source>
        <translation>{names}: wird heruntergeladen.</translation>
    </message>
    <message>
        <source>Evaluations (evaluation.json *.json)</source>
        <translation>Auswertungen (evaluation.json *.json)</translation>
    </message>
    <message>
        <source>Fast</source>
        <translation>Schnell</translation>
    </message>
    <message>
        <source>First model</source>
        <translation>Erstes Modell</translation>
    </message>
    <message>
        <source>For small objects in large pictures. For a GPU.</source>
        <translation>Für kleine Objekte in großen Bildern. Für eine GPU.</translation>
    </message>
    <message>
        <source>Percentage points</source>
        <translation>Prozentpunkte</translation>
    </message>
    <message>
        <source>There are no weights beside {name}: choose its .weights file, too.</source>
        <translation>Neben {name} liegen keine Gewichte: Wählen Sie auch die .weights-Datei.</translation>
    </message>
    <message>
        <source>Use your own files…</source>
        <translation>Eigene Dateien verwenden …</translation>
    </message>
    <message>
        <source>In use</source>
        <translation>In Gebrauch</translation>
    </message>
    <message numerus="yes">
        <source>%Ln boxes</source>
        <translation>
            <numerusform>%Ln Rahmen</numerusform>
            <numerusform>%Ln Rahmen</numerusform>
        </translation>
    </message>
    <message>
        <source>Accuracy against speed</source>
        <translation>Genauigkeit gegen Geschwindigkeit</translation>
    </message>
    <message>
        <source>All other models</source>
        <translation>Alle anderen Modelle</translation>
    </message>
    <message>
        <source>Average precision on COCO at IoU 0.50–0.95, as the authors published it</source>
        <translation>Mittlere Präzision auf COCO bei IoU 0,50–0,95, wie von den Autoren veröffentlicht</translation>
    </message>
    <message>
        <source>Below the four bold rows: average precision of each class, the largest difference first.</source>
        <translation>Unter den vier fetten Zeilen: mittlere Präzision jeder Klasse, die größten Unterschiede zuerst.</translation>
    </message>
    <message>
        <source>Choose a model to start detecting</source>
        <translation>Wählen Sie ein Modell, um mit der Erkennung zu beginnen</translation>
    </message>
    <message>
        <source>Compare two results of the shown video…</source>
        <translation>Zwei Ergebnisse des gezeigten Videos vergleichen …</translation>
    </message>
    <message>
        <source>GFLOP</source>
        <translation>GFLOP</translation>
    </message>
    <message>
        <source>GFLOP / picture (faster →)</source>
        <translation>GFLOP/Bild (schneller →)</translation>
    </message>
    <message>
        <source>It has a GPU.</source>
        <translation>Er hat eine GPU.</translation>
    </message>
    <message>
        <source>It has no GPU.</source>
        <translation>Er hat keine GPU.</translation>
    </message>
    <message>
        <source>It is in use: choose another model first</source>
        <translation>Es wird verwendet: Wählen Sie zuerst ein anderes Modell</translation>
    </message>
    <message>
        <source>Licence: {licence} · Published by the authors: {speed}</source>
        <translation>Lizenz: {licence} · Von den Autoren veröffentlicht: {speed}</translation>
    </message>
    <message>
        <source>Measured on this machine, in the newest run with this model</source>
        <translation>Auf diesem Rechner gemessen, im neuesten Lauf mit diesem Modell</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>Models…</source>
        <translation>Modelle …</translation>
    </message>
    <message>
        <source>New settings</source>
        <translation>Neue Einstellungen</translation>
    </message>
    <message>
        <source>Nobody publishes a SHA-256 of {files}.</source>
        <translation>Niemand veröffentlicht eine SHA-256 von {files}.</translation>
    </message>
    <message>
        <source>Only size and structure can be checked, not who made the files. Download {name} all the same?</source>
        <translation>Nur Größe und Aufbau lassen sich prüfen, nicht, wer die Dateien gemacht hat. {name} trotzdem herunterladen?</translation>
    </message>
    <message>
        <source>Open an evaluation</source>
        <translation>Auswertung öffnen</translation>
    </message>
    <message>
        <source>Open an evaluation…</source>
        <translation>Auswertung öffnen …</translation>
    </message>
    <message>
        <source>Precision at confidence {confidence}</source>
        <translation>Präzision bei Konfidenz {confidence}</translation>
    </message>
    <message>
        <source>Published by the authors</source>
        <translation>Von den Autoren veröffentlicht</translation>
    </message>
    <message>
        <source>Recall at confidence {confidence}</source>
        <translation>Trefferquote bei Konfidenz {confidence}</translation>
    </message>
    <message>
        <source>Recommended for this machine</source>
        <translation>Für diesen Rechner empfohlen</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>Remove it from this list. Its files are kept.</source>
        <translation>Aus dieser Liste nehmen. Die Dateien bleiben.</translation>
    </message>
    <message>
        <source>Results of both models</source>
        <translation>Ergebnisse beider Modelle</translation>
    </message>
    <message>
        <source>Retry</source>
        <translation>Wiederholen</translation>
    </message>
    <message>
        <source>Second model</source>
        <translation>Zweites Modell</translation>
    </message>
    <message>
        <source>See in a video where two models differ: detect in it with both, then show both results over the picture.</source>
        <translation>In einem Video sehen, wo sich zwei Modelle unterscheiden: mit beiden darin erkennen, dann beide Ergebnisse über dem Bild zeigen.</translation>
    </message>
    <message>
        <source>Settings…</source>
        <translation>Einstellungen …</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>Anzeigen</translation>
    </message>
    <message>
        <source>Show folder</source>
        <translation>Ordner öffnen</translation>
    </message>
    <message>
        <source>Source: README of github.com/AlexeyAB/darknet. The speed is that of Darknet.</source>
        <translation>Quelle: README von github.com/AlexeyAB/darknet. Die Geschwindigkeit ist die von Darknet.</translation>
    </message>
    <message>
        <source>The devices cannot be listed</source>
        <translation>Die Geräte lassen sich nicht auflisten</translation>
    </message>
    <message>
        <source>The model cannot be used</source>
        <translation>Das Modell ist nicht verwendbar</translation>
    </message>
    <message>
        <source>The model is not complete</source>
        <translation>Das Modell ist nicht vollständig</translation>
    </message>
    <message>
        <source>The model {name} is downloaded.</source>
        <translation>Das Modell {name} ist heruntergeladen.</translation>
    </message>
    <message>
        <source>The most accurate at 640 pixels. For a GPU.</source>
        <translation>Das genaueste bei 640 Pixeln. Für eine GPU.</translation>
    </message>
    <message>
        <source>The most accurate, and the slowest.</source>
        <translation>Das genaueste und langsamste.</translation>
    </message>
    <message>
        <source>The number of values in the weight file</source>
        <translation>Die Zahl der Werte in der Gewichtsdatei</translation>
    </message>
    <message>
        <source>The official YOLOv4 family. All find the 80 classes of COCO: people, vehicles, animals, everyday things.</source>
        <translation>Die offizielle YOLOv4-Familie. Alle finden die 80 Klassen von COCO: Menschen, Fahrzeuge, Tiere, Alltägliches.</translation>
    </message>
    <message>
        <source>The original of 2020, known everywhere.</source>
        <translation>Das Original von 2020, überall bekannt.</translation>
    </message>
    <message>
        <source>The size of the download</source>
        <translation>Die Größe des Downloads</translation>
    </message>
    <message>
        <source>The size of the network&apos;s input, pixels</source>
        <translation>Die Größe der Eingabe des Netzes, Pixel</translation>
    </message>
    <message>
        <source>To measure which of them finds more of the true objects:</source>
        <translation>Um zu messen, welches mehr der wahren Objekte findet:</translation>
    </message>
    <message>
        <source>accuracy</source>
        <translation>Genauigkeit</translation>
    </message>
    <message>
        <source>Use</source>
        <translation>Verwenden</translation>
    </message>
    <message numerus="yes">
        <source>%Ln files are being detected with the old settings.</source>
        <translation>
            <numerusform>In %Ln Datei wird noch mit den alten Einstellungen erkannt.</numerusform>
            <numerusform>In %Ln Dateien wird noch mit den alten Einstellungen erkannt.</numerusform>
        </translation>
    </message>
    <message>
        <source>Any .onnx file, or Darknet .cfg and .weights; they can also be dropped here</source>
        <translation>Jede .onnx-Datei oder .cfg und .weights von Darknet; sie lassen sich auch hierher ziehen</translation>
    </message>
    <message>
        <source>Change the names of the classes</source>
        <translation>Die Namen der Klassen ändern</translation>
    </message>
    <message>
        <source>Choose the model&apos;s .onnx file, or its .cfg and .weights files.</source>
        <translation>Wählen Sie die .onnx-Datei des Modells oder seine .cfg- und .weights-Dateien.</translation>
    </message>
    <message>
        <source>Classes of {name}</source>
        <translation>Klassen von {name}</translation>
    </message>
    <message>
        <source>Classes…</source>
        <translation>Klassen …</translation>
    </message>
    <message>
        <source>Detecting…</source>
        <translation>Wird erkannt …</translation>
    </message>
    <message>
        <source>Download one with a click, or drop an .onnx file, or a .cfg and its .weights, here.</source>
        <translation>Laden Sie eines mit einem Klick herunter, oder ziehen Sie eine .onnx-Datei oder eine .cfg und ihre .weights hierher.</translation>
    </message>
    <message>
        <source>Files that wait get the new settings in either case.</source>
        <translation>Wartende Dateien bekommen in jedem Fall die neuen Einstellungen.</translation>
    </message>
    <message>
        <source>Finish first</source>
        <translation>Erst beenden</translation>
    </message>
    <message>
        <source>Finish first: they keep the old settings.</source>
        <translation>Erst beenden: sie behalten die alten Einstellungen.</translation>
    </message>
    <message>
        <source>How is {name} read?</source>
        <translation>Wie wird {name} gelesen?</translation>
    </message>
    <message>
        <source>Licence: {licence}</source>
        <translation>Lizenz: {licence}</translation>
    </message>
    <message>
        <source>Models (*.onnx *.cfg *.weights *.names *.yaml)</source>
        <translation>Modelle (*.onnx *.cfg *.weights *.names *.yaml)</translation>
    </message>
    <message>
        <source>Names of the classes</source>
        <translation>Namen der Klassen</translation>
    </message>
    <message>
        <source>Read as {reading}</source>
        <translation>Gelesen als {reading}</translation>
    </message>
    <message>
        <source>Start again</source>
        <translation>Neu beginnen</translation>
    </message>
    <message>
        <source>Start again: these files are detected from the beginning with the new settings.</source>
        <translation>Neu beginnen: in diesen Dateien wird mit den neuen Einstellungen von vorn erkannt.</translation>
    </message>
    <message>
        <source>The file does not say what its outputs mean, and more than one reading fits. Choose the one whose boxes fit the objects.</source>
        <translation>Die Datei sagt nicht, was ihre Ausgaben bedeuten, und mehr als eine Lesart passt. Wählen Sie die, deren Rahmen zu den Objekten passen.</translation>
    </message>
    <message>
        <source>The name of each class, one a line, in the order of the class ids.</source>
        <translation>Der Name jeder Klasse, einer je Zeile, in der Reihenfolge der Klassennummern.</translation>
    </message>
    <message>
        <source>Use COCO&apos;s 80</source>
        <translation>Die 80 von COCO</translation>
    </message>
    <message>
        <source>Use it</source>
        <translation>Verwenden</translation>
    </message>
    <message>
        <source>Use this reading</source>
        <translation>Diese Lesart verwenden</translation>
    </message>
    <message>
        <source>Use your own files</source>
        <translation>Eigene Dateien verwenden</translation>
    </message>
    <message>
        <source>YOLOv4-CSP at 640 pixels. Finds smaller objects.</source>
        <translation>YOLOv4-CSP mit 640 Pixeln. Findet kleinere Objekte.</translation>
    </message>
    <message>
        <source>Your own models</source>
        <translation>Eigene Modelle</translation>
    </message>
    <message>
        <source>download</source>
        <translation>Download</translation>
    </message>
    <message>
        <source>frames/s here</source>
        <translation>Bilder/s hier</translation>
    </message>
    <message>
        <source>input</source>
        <translation>Eingabe</translation>
    </message>
    <message>
        <source>installed</source>
        <translation>installiert</translation>
    </message>
    <message>
        <source>not downloaded</source>
        <translation>nicht heruntergeladen</translation>
    </message>
    <message>
        <source>not stated</source>
        <translation>nicht angegeben</translation>
    </message>
    <message>
        <source>parameters</source>
        <translation>Parameter</translation>
    </message>
    <message>
        <source>the file says nothing</source>
        <translation>die Datei sagt nichts</translation>
    </message>
    <message>
        <source>{megabytes} MB</source>
        <translation>{megabytes} MB</translation>
    </message>
    <message>
        <source>{name} was not downloaded</source>
        <translation>{name} wurde nicht heruntergeladen</translation>
    </message>
    <message>
        <source>{name}: {rate} frames/s, {hardware}</source>
        <translation>{name}: {rate} Bilder/s, {hardware}</translation>
    </message>
    <message>
        <source>{parameters} M</source>
        <translation>{parameters} Mio.</translation>
    </message>
    <message>
        <source>{parameters} parameters</source>
        <translation>{parameters} Parameter</translation>
    </message>
    <message>
        <source>{partial} is downloaded</source>
        <translation>{partial} ist heruntergeladen</translation>
    </message>
    <message>
        <source>{path} has one model only: evaluate the sessions of two models together, on the same videos</source>
        <translation>{path} enthält nur ein Modell: Werten Sie die Sitzungen zweier Modelle zusammen aus, mit denselben Videos</translation>
    </message>
    <message>
        <source>{path} is not an evaluation: open an evaluation.json that &apos;framefleet evaluate --out&apos; wrote</source>
        <translation>{path} ist keine Auswertung: Öffnen Sie eine evaluation.json, die „framefleet evaluate --out“ geschrieben hat</translation>
    </message>
    <message>
        <source>{percent} · {done} of {total} MB</source>
        <translation>{percent} · {done} von {total} MB</translation>
    </message>
    <message>
        <source>{rate} frames/s</source>
        <translation>{rate} Bilder/s</translation>
    </message>
</context>
<context>
    <name>queue</name>
    <message numerus="yes">
        <source>
%Ln frames without detections</source>
        <translation>
            <numerusform>
%Ln Bild ohne Erkennungen</numerusform>
            <numerusform>
%Ln Bilder ohne Erkennungen</numerusform>
        </translation>
    </message>
    <message>
        <source>
Boxes: {found}</source>
        <translation>
Rahmen: {found}</translation>
    </message>
    <message>
        <source>
Frames {decoder}</source>
        <translation>
Bilder: {decoder}</translation>
    </message>
    <message numerus="yes">
        <source>%Ln files are already in the queue</source>
        <translation>
            <numerusform>%Ln Datei ist bereits in der Warteschlange</numerusform>
            <numerusform>%Ln Dateien sind bereits in der Warteschlange</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln files go on where they stopped</source>
        <translation>
            <numerusform>%Ln Datei wird fortgesetzt, wo sie anhielt</numerusform>
            <numerusform>%Ln Dateien werden fortgesetzt, wo sie anhielten</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln files were interrupted</source>
        <translation>
            <numerusform>%Ln Datei wurde unterbrochen</numerusform>
            <numerusform>%Ln Dateien wurden unterbrochen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln frames have no detections, because they could not be read or detected.</source>
        <translation>
            <numerusform>%Ln Bild hat keine Erkennungen, weil es nicht gelesen oder verarbeitet werden konnte.</numerusform>
            <numerusform>%Ln Bilder haben keine Erkennungen, weil sie nicht gelesen oder verarbeitet werden konnten.</numerusform>
        </translation>
    </message>
    <message>
        <source>Add</source>
        <translation>Hinzufügen</translation>
    </message>
    <message numerus="yes">
        <source>Add %Ln files to the queue?</source>
        <translation>
            <numerusform>%Ln Datei in die Warteschlange aufnehmen?</numerusform>
            <numerusform>%Ln Dateien in die Warteschlange aufnehmen?</numerusform>
        </translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Cancel all files that are not finished</source>
        <translation>Alle unfertigen Dateien abbrechen</translation>
    </message>
    <message>
        <source>Cancelled</source>
        <translation>Abgebrochen</translation>
    </message>
    <message>
        <source>Cancelled after {frames}</source>
        <translation>Abgebrochen, {frames}</translation>
    </message>
    <message>
        <source>Cancelled at {part}</source>
        <translation>Abgebrochen bei {part}</translation>
    </message>
    <message>
        <source>Clear this list</source>
        <translation>Diese Liste leeren</translation>
    </message>
    <message>
        <source>Compare…</source>
        <translation>Vergleichen …</translation>
    </message>
    <message>
        <source>Connecting…</source>
        <translation>Verbindung wird aufgebaut …</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Continue the detection</source>
        <translation>Erkennung fortsetzen</translation>
    </message>
    <message>
        <source>Correct…</source>
        <translation>Korrigieren …</translation>
    </message>
    <message>
        <source>Count…</source>
        <translation>Zählen …</translation>
    </message>
    <message>
        <source>Detect again</source>
        <translation>Erneut erkennen</translation>
    </message>
    <message>
        <source>Drop to add {name}</source>
        <translation>Loslassen, um {name} hinzuzufügen</translation>
    </message>
    <message>
        <source>Drop to open these results</source>
        <translation>Loslassen, um diese Ergebnisse zu öffnen</translation>
    </message>
    <message>
        <source>Drop to open this stream</source>
        <translation>Loslassen, um diesen Stream zu öffnen</translation>
    </message>
    <message>
        <source>Drop to open {name}</source>
        <translation>Ablegen, um {name} zu öffnen</translation>
    </message>
    <message>
        <source>Drop to set the model and add {sources}</source>
        <translation>Loslassen, um das Modell zu setzen und {sources} hinzuzufügen</translation>
    </message>
    <message>
        <source>Drop to use this model</source>
        <translation>Loslassen, um dieses Modell zu verwenden</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>Exportieren …</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>Fehlgeschlagen</translation>
    </message>
    <message>
        <source>Files you add appear here.</source>
        <translation>Hinzugefügte Dateien erscheinen hier.</translation>
    </message>
    <message>
        <source>Live</source>
        <translation>Live</translation>
    </message>
    <message>
        <source>Not connected</source>
        <translation>Nicht verbunden</translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation>Ordner öffnen</translation>
    </message>
    <message>
        <source>Opening the results in {name}…</source>
        <translation>Die Ergebnisse in {name} werden geöffnet …</translation>
    </message>
    <message>
        <source>Pause the detection</source>
        <translation>Erkennung anhalten</translation>
    </message>
    <message>
        <source>Paused after {frames}</source>
        <translation>Angehalten, {frames}</translation>
    </message>
    <message>
        <source>Paused at {part}</source>
        <translation>Angehalten bei {part}</translation>
    </message>
    <message>
        <source>Paused: {summary}</source>
        <translation>Angehalten: {summary}</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>Dateien</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message numerus="yes">
        <source>Remove %Ln files</source>
        <translation>
            <numerusform>%Ln Datei entfernen</numerusform>
            <numerusform>%Ln Dateien entfernen</numerusform>
        </translation>
    </message>
    <message>
        <source>Remove all finished</source>
        <translation>Alle fertigen entfernen</translation>
    </message>
    <message>
        <source>Remove from queue</source>
        <translation>Aus der Liste entfernen</translation>
    </message>
    <message>
        <source>Remove {name}</source>
        <translation>{name} entfernen</translation>
    </message>
    <message numerus="yes">
        <source>Removed %Ln files</source>
        <translation>
            <numerusform>%Ln Datei entfernt</numerusform>
            <numerusform>%Ln Dateien entfernt</numerusform>
        </translation>
    </message>
    <message>
        <source>Removed {name}</source>
        <translation>{name} entfernt</translation>
    </message>
    <message>
        <source>Replaced by another run</source>
        <translation>Von einem anderen Lauf ersetzt</translation>
    </message>
    <message>
        <source>Retry</source>
        <translation>Erneut</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>Anzeigen</translation>
    </message>
    <message>
        <source>Show in folder</source>
        <translation>Im Ordner zeigen</translation>
    </message>
    <message>
        <source>Stalled</source>
        <translation>Keine Bilder</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Stoppen</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>Gestoppt</translation>
    </message>
    <message>
        <source>Stopped after {frames}</source>
        <translation>Gestoppt, {frames}</translation>
    </message>
    <message>
        <source>Stopped, {frames}</source>
        <translation>Gestoppt, {frames}</translation>
    </message>
    <message>
        <source>The boxes are of the earlier file: detect again.</source>
        <translation>Die Rahmen gehören zur früheren Datei: Erkennen Sie erneut.</translation>
    </message>
    <message>
        <source>They are in {folder} and in the folders below it.</source>
        <translation>Sie liegen in {folder} und in den Ordnern darunter.</translation>
    </message>
    <message>
        <source>This address cannot be opened</source>
        <translation>Diese Adresse lässt sich nicht öffnen</translation>
    </message>
    <message>
        <source>This cannot be opened</source>
        <translation>Das lässt sich nicht öffnen</translation>
    </message>
    <message>
        <source>Waiting</source>
        <translation>Wartet</translation>
    </message>
    <message>
        <source>Waiting for a keyframe…</source>
        <translation>Wartet auf ein Schlüsselbild …</translation>
    </message>
    <message>
        <source>empty</source>
        <translation>leer</translation>
    </message>
    <message>
        <source>show all</source>
        <translation>alle zeigen</translation>
    </message>
    <message>
        <source>{address} is not an address of a stream: streams begin with rtsp:// or http://.</source>
        <translation>{address} ist keine Adresse eines Streams: Streams beginnen mit rtsp:// oder http://.</translation>
    </message>
    <message>
        <source>{done} done</source>
        <translation>{done} fertig</translation>
    </message>
    <message>
        <source>{done} of {count} done</source>
        <translation>{done} von {count} fertig</translation>
    </message>
    <message>
        <source>{failed} of {count} failed</source>
        <translation>Fehler: {failed} von {count}</translation>
    </message>
    <message>
        <source>{failed} of {count} frames failed</source>
        <translation>{failed} von {count} Bildern fehlgeschlagen</translation>
    </message>
    <message>
        <source>{failed} of {count} pictures failed</source>
        <translation>{failed} von {count} Bildern fehlgeschlagen</translation>
    </message>
    <message>
        <source>{name} cannot be opened</source>
        <translation>{name} lässt sich nicht öffnen</translation>
    </message>
    <message>
        <source>{name} failed</source>
        <translation>Fehler: {name}</translation>
    </message>
    <message>
        <source>{name} goes on</source>
        <translation>{name} geht weiter</translation>
    </message>
    <message>
        <source>{name} is already in the queue</source>
        <translation>{name} ist bereits in der Warteschlange</translation>
    </message>
    <message>
        <source>{name} is incomplete</source>
        <translation>{name} ist unvollständig</translation>
    </message>
    <message>
        <source>{name} is tried again</source>
        <translation>{name} wird noch einmal versucht</translation>
    </message>
    <message>
        <source>{name} was interrupted</source>
        <translation>{name} wurde unterbrochen</translation>
    </message>
    <message>
        <source>{number} cancelled</source>
        <translation>{number} abgebrochen</translation>
    </message>
    <message>
        <source>{number} empty</source>
        <translation>{number} leer</translation>
    </message>
    <message>
        <source>{number} failed</source>
        <translation>{number} fehlgeschlagen</translation>
    </message>
    <message>
        <source>{number} live</source>
        <translation>{number} live</translation>
    </message>
    <message>
        <source>{number} stopped</source>
        <translation>{number} gestoppt</translation>
    </message>
    <message>
        <source>{number} with objects</source>
        <translation>{number} mit Objekten</translation>
    </message>
    <message>
        <source>{path} has changed since the detection.</source>
        <translation>{path} hat sich seit der Erkennung geändert.</translation>
    </message>
    <message>
        <source>{path} holds several models ({names}): drop the .cfg of the one you want</source>
        <translation>{path} enthält mehrere Modelle ({names}): Ziehen Sie die .cfg des gewünschten hierher</translation>
    </message>
    <message>
        <source>{rate} frames/s</source>
        <translation>{rate} Bilder/s</translation>
    </message>
    <message>
        <source>{rate} pictures/s</source>
        <translation>{rate} Bilder/s</translation>
    </message>
    <message>
        <source>{rate}/s</source>
        <translation>{rate}/s</translation>
    </message>
    <message>
        <source>{remaining} left</source>
        <translation>noch {remaining}</translation>
    </message>
    <message>
        <source>… and {more} more</source>
        <translation>… und {more} weitere</translation>
    </message>
</context>
<context>
    <name>results</name>
    <message>
        <source>1 day</source>
        <translation>1 Tag</translation>
    </message>
    <message>
        <source>1 hour</source>
        <translation>1 Stunde</translation>
    </message>
    <message>
        <source>1 minute</source>
        <translation>1 Minute</translation>
    </message>
    <message>
        <source>15 minutes</source>
        <translation>15 Minuten</translation>
    </message>
    <message>
        <source>30 seconds</source>
        <translation>30 Sekunden</translation>
    </message>
    <message>
        <source>5 minutes</source>
        <translation>5 Minuten</translation>
    </message>
    <message>
        <source>A frame every 10 seconds</source>
        <translation>Ein Bild alle 10 Sekunden</translation>
    </message>
    <message>
        <source>A frame per minute</source>
        <translation>Ein Bild pro Minute</translation>
    </message>
    <message>
        <source>A frame per second</source>
        <translation>Ein Bild pro Sekunde</translation>
    </message>
    <message>
        <source>A time such as 1:30 or 90s, or the number of a frame such as 2700</source>
        <translation>Eine Zeit wie 1:30 oder 90s oder die Nummer eines Bildes wie 2700</translation>
    </message>
    <message numerus="yes">
        <source>All %Ln files of this run</source>
        <translation>
            <numerusform>Die %Ln Datei dieses Laufs</numerusform>
            <numerusform>Alle %Ln Dateien dieses Laufs</numerusform>
        </translation>
    </message>
    <message>
        <source>All detections</source>
        <translation>Alle Erkennungen</translation>
    </message>
    <message>
        <source>Another run has replaced the results in {name}</source>
        <translation>Ein anderer Lauf hat die Ergebnisse in {name} ersetzt</translation>
    </message>
    <message>
        <source>Boxes</source>
        <translation>Rahmen</translation>
    </message>
    <message>
        <source>COCO&apos;s labels as animal, person and vehicle</source>
        <translation>COCO-Labels als Tier, Mensch und Fahrzeug</translation>
    </message>
    <message>
        <source>COCO&apos;s own, 1 to 90, for its 80 labels</source>
        <translation>Die von COCO, 1 bis 90, für dessen 80 Labels</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Categories</source>
        <translation>Kategorien</translation>
    </message>
    <message>
        <source>Category ids</source>
        <translation>Kategorie-Nummern</translation>
    </message>
    <message>
        <source>Choose a folder.</source>
        <translation>Wählen Sie einen Ordner.</translation>
    </message>
    <message>
        <source>Choose at least one file.</source>
        <translation>Wählen Sie mindestens eine Datei.</translation>
    </message>
    <message>
        <source>Choose at least one format.</source>
        <translation>Wählen Sie mindestens ein Format.</translation>
    </message>
    <message>
        <source>Classes</source>
        <translation>Klassen</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>Befehl</translation>
    </message>
    <message>
        <source>Confidence</source>
        <translation>Konfidenz</translation>
    </message>
    <message>
        <source>Confirm, relabel and delete objects</source>
        <translation>Objekte bestätigen, umbenennen und löschen</translation>
    </message>
    <message>
        <source>Content</source>
        <translation>Inhalt</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Copy the command</source>
        <translation>Den Befehl kopieren</translation>
    </message>
    <message>
        <source>Correct…</source>
        <translation>Korrigieren …</translation>
    </message>
    <message>
        <source>Counted at</source>
        <translation>Gezählt an</translation>
    </message>
    <message>
        <source>Count…</source>
        <translation>Zählen …</translation>
    </message>
    <message>
        <source>Detect in the rest of the file</source>
        <translation>Den Rest der Datei verarbeiten</translation>
    </message>
    <message>
        <source>Draw lines and zones, and count what crosses them</source>
        <translation>Linien und Zonen zeichnen, und zählen, was sie kreuzt</translation>
    </message>
    <message>
        <source>Exported {written}</source>
        <translation>Exportiert: {written}</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>Exportieren …</translation>
    </message>
    <message>
        <source>Keeps what is there already: {names}.</source>
        <translation>Behält, was schon da ist: {names}.</translation>
    </message>
    <message>
        <source>Only these tracks:</source>
        <translation>Nur diese Spuren:</translation>
    </message>
    <message>
        <source>Part</source>
        <translation>Abschnitt</translation>
    </message>
    <message>
        <source>Progress of the export</source>
        <translation>Fortschritt des Exports</translation>
    </message>
    <message>
        <source>Saved {picture}</source>
        <translation>Gespeichert: {picture}</translation>
    </message>
    <message>
        <source>The last detection was interrupted</source>
        <translation>Die letzte Erkennung wurde unterbrochen</translation>
    </message>
    <message>
        <source>There is nothing to export yet</source>
        <translation>Es gibt noch nichts zu exportieren</translation>
    </message>
    <message>
        <source>They are no longer shown.</source>
        <translation>Sie werden nicht mehr gezeigt.</translation>
    </message>
    <message>
        <source>and above</source>
        <translation>und darüber</translation>
    </message>
    <message>
        <source>Discard</source>
        <translation>Verwerfen</translation>
    </message>
    <message>
        <source>A class that is seen more briefly does not count in files.csv.</source>
        <translation>Eine Klasse, die kürzer zu sehen ist, zählt in files.csv nicht.</translation>
    </message>
    <message>
        <source>About the exported files</source>
        <translation>Zu den exportierten Dateien</translation>
    </message>
    <message>
        <source>All classes</source>
        <translation>Alle Klassen</translation>
    </message>
    <message>
        <source>Chart</source>
        <translation>Diagramm</translation>
    </message>
    <message>
        <source>Counts at these lines and zones also in files without them: {names}.</source>
        <translation>Zählt an diesen Linien und Zonen auch in Dateien ohne sie: {names}.</translation>
    </message>
    <message>
        <source>Detections</source>
        <translation>Erkennungen</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Draws</source>
        <translation>Zeichnet</translation>
    </message>
    <message>
        <source>Every 25th frame</source>
        <translation>Jedes 25. Bild</translation>
    </message>
    <message>
        <source>Every 5th frame</source>
        <translation>Jedes 5. Bild</translation>
    </message>
    <message>
        <source>Every frame</source>
        <translation>Jedes Bild</translation>
    </message>
    <message>
        <source>Excel</source>
        <translation>Excel</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>Exportieren</translation>
    </message>
    <message>
        <source>Exporting as {title}…</source>
        <translation>Export als {title} …</translation>
    </message>
    <message>
        <source>Failed after {frames}</source>
        <translation>Fehlgeschlagen nach {frames}</translation>
    </message>
    <message>
        <source>File</source>
        <translation>Datei</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>Dateien</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>Ordner</translation>
    </message>
    <message>
        <source>For 1 second</source>
        <translation>1 Sekunde lang</translation>
    </message>
    <message>
        <source>For 2 seconds</source>
        <translation>2 Sekunden lang</translation>
    </message>
    <message>
        <source>For 5 seconds</source>
        <translation>5 Sekunden lang</translation>
    </message>
    <message>
        <source>For half a second</source>
        <translation>Eine halbe Sekunde lang</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>Format</translation>
    </message>
    <message>
        <source>Frame</source>
        <translation>Bild</translation>
    </message>
    <message>
        <source>Frames</source>
        <translation>Bilder</translation>
    </message>
    <message>
        <source>Heat map</source>
        <translation>Heatmap</translation>
    </message>
    <message>
        <source>Highest</source>
        <translation>Höchste</translation>
    </message>
    <message>
        <source>In 5 frames</source>
        <translation>In 5 Bildern</translation>
    </message>
    <message>
        <source>In one frame</source>
        <translation>In einem Bild</translation>
    </message>
    <message>
        <source>Intervals</source>
        <translation>Zeiträume</translation>
    </message>
    <message>
        <source>Labels and JPEG pictures</source>
        <translation>Labels und JPEG-Bilder</translation>
    </message>
    <message>
        <source>Labels and PNG pictures</source>
        <translation>Labels und PNG-Bilder</translation>
    </message>
    <message>
        <source>Labels only</source>
        <translation>Nur Labels</translation>
    </message>
    <message>
        <source>Lines and zones</source>
        <translation>Linien und Zonen</translation>
    </message>
    <message>
        <source>Lowest</source>
        <translation>Niedrigste</translation>
    </message>
    <message>
        <source>Lowest confidence</source>
        <translation>Niedrigste Konfidenz</translation>
    </message>
    <message>
        <source>Missed</source>
        <translation>Übersehen</translation>
    </message>
    <message>
        <source>Numbers</source>
        <translation>Nummern</translation>
    </message>
    <message>
        <source>Numbers of tracks</source>
        <translation>Nummern der Spuren</translation>
    </message>
    <message>
        <source>Objects</source>
        <translation>Objekte</translation>
    </message>
    <message>
        <source>One table of all files</source>
        <translation>Eine Tabelle für alle Dateien</translation>
    </message>
    <message>
        <source>Only detections with a track</source>
        <translation>Nur Erkennungen mit einer Spur</translation>
    </message>
    <message>
        <source>Only frames</source>
        <translation>Nur Bilder</translation>
    </message>
    <message>
        <source>Open a file or stored results first.</source>
        <translation>Öffnen Sie zuerst eine Datei oder gespeicherte Ergebnisse.</translation>
    </message>
    <message>
        <source>Open the new results</source>
        <translation>Neue Ergebnisse öffnen</translation>
    </message>
    <message>
        <source>Replaces your earlier export: {names}.</source>
        <translation>Ersetzt Ihren früheren Export: {names}.</translation>
    </message>
    <message>
        <source>Seen at least</source>
        <translation>Mindestens zu sehen</translation>
    </message>
    <message>
        <source>Session</source>
        <translation>Sitzung</translation>
    </message>
    <message>
        <source>Several formats</source>
        <translation>Mehrere Formate</translation>
    </message>
    <message>
        <source>Show in folder</source>
        <translation>Im Ordner zeigen</translation>
    </message>
    <message>
        <source>Some classes</source>
        <translation>Einige Klassen</translation>
    </message>
    <message>
        <source>Some files of this run</source>
        <translation>Einige Dateien dieses Laufs</translation>
    </message>
    <message numerus="yes">
        <source>The %Ln files with these lines and zones</source>
        <translation>
            <numerusform>Die %Ln Datei mit diesen Linien und Zonen</numerusform>
            <numerusform>Die %Ln Dateien mit diesen Linien und Zonen</numerusform>
        </translation>
    </message>
    <message>
        <source>The arrow keys show the next or previous frame. Missed: objects without a box. Wrong: boxes without an object.</source>
        <translation>Die Pfeiltasten zeigen das nächste oder vorige Bild. Übersehen: Objekte ohne Rahmen. Falsch: Rahmen ohne Objekt.</translation>
    </message>
    <message>
        <source>The end</source>
        <translation>Ende</translation>
    </message>
    <message>
        <source>The export as {title} was cancelled.</source>
        <translation>Der Export als {title} wurde abgebrochen.</translation>
    </message>
    <message>
        <source>The export failed</source>
        <translation>Der Export ist fehlgeschlagen</translation>
    </message>
    <message>
        <source>The file begins with a mark of its encoding, which other programs may show.</source>
        <translation>Die Datei beginnt mit einer Kennung ihrer Kodierung, die andere Programme vielleicht zeigen.</translation>
    </message>
    <message>
        <source>The frame cannot be shown</source>
        <translation>Das Bild lässt sich nicht zeigen</translation>
    </message>
    <message>
        <source>The last detection cannot continue</source>
        <translation>Die letzte Erkennung kann nicht weitergehen</translation>
    </message>
    <message>
        <source>The lower confidence must not be above the higher one.</source>
        <translation>Die untere Konfidenz darf nicht über der oberen liegen.</translation>
    </message>
    <message>
        <source>The results cannot be read</source>
        <translation>Die Ergebnisse sind nicht lesbar</translation>
    </message>
    <message>
        <source>The same as a command</source>
        <translation>Dasselbe als Befehl</translation>
    </message>
    <message>
        <source>The start</source>
        <translation>Anfang</translation>
    </message>
    <message>
        <source>There are no results of this file, because it was not opened: choose other files.</source>
        <translation>Von dieser Datei gibt es keine Ergebnisse, weil sie nicht geöffnet wurde: Wählen Sie andere Dateien.</translation>
    </message>
    <message>
        <source>This command writes the same files</source>
        <translation>Dieser Befehl schreibt dieselben Dateien</translation>
    </message>
    <message>
        <source>This file has no lines and zones: draw some first (Ctrl + 3).</source>
        <translation>Diese Datei hat keine Linien und Zonen: Zeichnen Sie zuerst welche (Strg + 3).</translation>
    </message>
    <message>
        <source>This session was corrected by hand. Missed and wrong count the model&apos;s own detections; the picture shows the corrected ones.</source>
        <translation>Diese Sitzung wurde von Hand korrigiert. „Übersehen“ und „Falsch“ zählen die Erkennungen des Modells; das Bild zeigt die korrigierten.</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>Tracks</source>
        <translation>Spuren</translation>
    </message>
    <message>
        <source>Trails</source>
        <translation>Bahnen</translation>
    </message>
    <message>
        <source>Where to write the files</source>
        <translation>Zielordner für die Dateien</translation>
    </message>
    <message>
        <source>With a confidence from</source>
        <translation>Mit einer Konfidenz von</translation>
    </message>
    <message>
        <source>Worst frames</source>
        <translation>Schlechteste Bilder</translation>
    </message>
    <message>
        <source>Worst frames: {name}</source>
        <translation>Schlechteste Bilder: {name}</translation>
    </message>
    <message>
        <source>Write so that Excel reads all letters</source>
        <translation>So schreiben, dass Excel alle Buchstaben liest</translation>
    </message>
    <message>
        <source>Writes {names}.</source>
        <translation>Schreibt {names}.</translation>
    </message>
    <message>
        <source>Writing {name}: {frames}</source>
        <translation>{name} wird geschrieben: {frames}</translation>
    </message>
    <message>
        <source>Wrong</source>
        <translation>Falsch</translation>
    </message>
    <message>
        <source>cannot write {target}: check that the folder may be written and that the disk is not full</source>
        <translation>{target} kann nicht geschrieben werden: Prüfen Sie, ob der Ordner beschreibbar und die Festplatte nicht voll ist</translation>
    </message>
    <message>
        <source>choose at least one class</source>
        <translation>Wählen Sie mindestens eine Klasse</translation>
    </message>
    <message>
        <source>give the numbers of the tracks with commas between them, such as 3,7</source>
        <translation>geben Sie die Nummern der Spuren mit Kommas dazwischen an, etwa 3,7</translation>
    </message>
    <message>
        <source>label=category, with commas between them, such as dog=animal,car=vehicle</source>
        <translation>Label=Kategorie, durch Kommas getrennt, etwa dog=animal,car=vehicle</translation>
    </message>
    <message>
        <source>no lines and zones</source>
        <translation>keine Linien und Zonen</translation>
    </message>
    <message>
        <source>nothing found</source>
        <translation>nichts gefunden</translation>
    </message>
    <message>
        <source>the folder {name}</source>
        <translation>den Ordner {name}</translation>
    </message>
    <message>
        <source>there is nothing to export yet: wait until detection has begun</source>
        <translation>es gibt noch nichts zu exportieren: Warten Sie, bis die Erkennung begonnen hat</translation>
    </message>
    <message>
        <source>to</source>
        <translation>bis</translation>
    </message>
    <message>
        <source>{count} of {sources} files are not finished.</source>
        <translation>{count} von {sources} Dateien sind nicht fertig.</translation>
    </message>
    <message>
        <source>{database} does not exist any more.</source>
        <translation>{database} existiert nicht mehr.</translation>
    </message>
    <message>
        <source>{database} holds no results: the run ended before it had looked at a file</source>
        <translation>{database} enthält keine Ergebnisse: Der Lauf endete vor der ersten Datei</translation>
    </message>
    <message>
        <source>{frames} in {time}</source>
        <translation>{frames} in {time}</translation>
    </message>
    <message>
        <source>{frames}, {new} of them new, in {time}</source>
        <translation>{frames}, davon {new} neu, in {time}</translation>
    </message>
    <message>
        <source>{names} and {count} more</source>
        <translation>{names} und {count} weitere</translation>
    </message>
    <message>
        <source>{name} cannot be opened</source>
        <translation>{name} lässt sich nicht öffnen</translation>
    </message>
    <message>
        <source>{name} confidence</source>
        <translation>{name} Konfidenz</translation>
    </message>
    <message>
        <source>{name} in {count}</source>
        <translation>{name} in {count}</translation>
    </message>
    <message>
        <source>{name} is not in the queue any more: open {database} again.</source>
        <translation>{name} ist nicht mehr in der Dateiliste: Öffnen Sie {database} erneut.</translation>
    </message>
    <message>
        <source>{path} is not a list of worst frames: open a worst-frames.json that &apos;framefleet evaluate --out&apos; wrote</source>
        <translation>{path} ist keine Liste schlechtester Bilder: Öffnen Sie eine worst-frames.json, die „framefleet evaluate --out“ geschrieben hat</translation>
    </message>
    <message>
        <source>{text} · {count} exports</source>
        <translation>{text} · {count} Exporte</translation>
    </message>
    <message>
        <source>{title} is for videos only: choose another format.</source>
        <translation>{title} gibt es nur für Videos: Wählen Sie ein anderes Format.</translation>
    </message>
</context>
<context>
    <name>run</name>
    <message numerus="yes">
        <source>%Ln files are detected from the beginning: the model or the settings have changed.</source>
        <translation>
            <numerusform>%Ln Datei wird von Anfang an erkannt: Modell oder Einstellungen haben sich geändert.</numerusform>
            <numerusform>%Ln Dateien werden von Anfang an erkannt: Modell oder Einstellungen haben sich geändert.</numerusform>
        </translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Continue the detection</source>
        <translation>Erkennung fortsetzen</translation>
    </message>
    <message numerus="yes">
        <source>Continue, and remove %Ln corrections?</source>
        <translation>
            <numerusform>Fortsetzen, wobei %Ln Korrektur entfällt?</numerusform>
            <numerusform>Fortsetzen, wobei %Ln Korrekturen entfallen?</numerusform>
        </translation>
    </message>
    <message>
        <source>Detection ended before this file.</source>
        <translation>Die Erkennung endete vor dieser Datei.</translation>
    </message>
    <message>
        <source>Needs a model</source>
        <translation>Braucht ein Modell</translation>
    </message>
    <message>
        <source>Preparing the model</source>
        <translation>Modell wird vorbereitet</translation>
    </message>
    <message>
        <source>Their frames are detected again, or their objects are tracked again. A copy of the session keeps the corrections.</source>
        <translation>Ihre Bilder werden erneut erkannt, oder ihre Objekte erneut verfolgt. Eine Kopie der Sitzung behält die Korrekturen.</translation>
    </message>
    <message>
        <source>nothing is being detected</source>
        <translation>es läuft keine Erkennung</translation>
    </message>
    <message>
        <source>{name} is detected from the beginning: the model or the settings are not those of its stored frames.</source>
        <translation>{name} wird von Anfang an erkannt: Modell oder Einstellungen sind andere als bei den gespeicherten Bildern.</translation>
    </message>
</context>
<context>
    <name>search</name>
    <message>
        <source> (seen from {begin} to {end})</source>
        <translation> (zu sehen von {begin} bis {end})</translation>
    </message>
    <message numerus="yes">
        <source>%Ln moments</source>
        <translation>
            <numerusform>%Ln Moment</numerusform>
            <numerusform>%Ln Momente</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln moments, the latest {shown} of them here</source>
        <translation>
            <numerusform>%Ln Moment, hier die letzten {shown}</numerusform>
            <numerusform>%Ln Momente, hier die letzten {shown}</numerusform>
        </translation>
    </message>
    <message>
        <source>At least</source>
        <translation>Mindestens</translation>
    </message>
    <message>
        <source>Class</source>
        <translation>Klasse</translation>
    </message>
    <message>
        <source>Classes</source>
        <translation>Klassen</translation>
    </message>
    <message>
        <source>Confidence from</source>
        <translation>Konfidenz ab</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>Dateien</translation>
    </message>
    <message>
        <source>Filter classes</source>
        <translation>Klassen filtern</translation>
    </message>
    <message>
        <source>From</source>
        <translation>Von</translation>
    </message>
    <message>
        <source>Moments</source>
        <translation>Momente</translation>
    </message>
    <message>
        <source>No stored results yet</source>
        <translation>Noch keine gespeicherten Ergebnisse</translation>
    </message>
    <message>
        <source>No such moment in the stored results</source>
        <translation>Kein solcher Moment in den gespeicherten Ergebnissen</translation>
    </message>
    <message>
        <source>No such moment where it is most likely; choose fewer classes to look everywhere</source>
        <translation>Kein solcher Moment, wo er am wahrscheinlichsten ist; mit weniger Klassen wird überall gesucht</translation>
    </message>
    <message>
        <source>Objects at once</source>
        <translation>Objekte zugleich</translation>
    </message>
    <message>
        <source>Search all results</source>
        <translation>Alle Ergebnisse durchsuchen</translation>
    </message>
    <message numerus="yes">
        <source>The first %Ln moments; there may be more</source>
        <translation>
            <numerusform>Der erste Moment; es kann weitere geben</numerusform>
            <numerusform>Die ersten %Ln Momente; es kann weitere geben</numerusform>
        </translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>Times are those of the recording or, if they are unknown, of the detection. A click shows the moment.</source>
        <translation>Die Zeiten sind die der Aufnahme oder, wenn sie unbekannt sind, die der Erkennung. Ein Klick zeigt den Moment.</translation>
    </message>
    <message>
        <source>To</source>
        <translation>Bis</translation>
    </message>
    <message>
        <source>at any time</source>
        <translation>beliebig</translation>
    </message>
    <message>
        <source>at once</source>
        <translation>zugleich</translation>
    </message>
    <message>
        <source>between two times</source>
        <translation>zwischen zwei Zeiten</translation>
    </message>
    <message>
        <source>detected {time}</source>
        <translation>erkannt {time}</translation>
    </message>
    <message>
        <source>in the last 24 hours</source>
        <translation>in den letzten 24 Stunden</translation>
    </message>
    <message>
        <source>in the last 30 days</source>
        <translation>in den letzten 30 Tagen</translation>
    </message>
    <message>
        <source>in the last 7 days</source>
        <translation>in den letzten 7 Tagen</translation>
    </message>
    <message>
        <source>in the last year</source>
        <translation>im letzten Jahr</translation>
    </message>
    <message>
        <source>picture {number}</source>
        <translation>Bild {number}</translation>
    </message>
    <message>
        <source>reading new results: {part}</source>
        <translation>neue Ergebnisse werden gelesen: {part}</translation>
    </message>
    <message>
        <source>recorded {time}</source>
        <translation>aufgenommen {time}</translation>
    </message>
</context>
<context>
    <name>sessions</name>
    <message>
        <source>&apos;{name}&apos; cannot be a name: write at least one character, and no / \ or :</source>
        <translation>„{name}“ ist kein gültiger Name: Schreiben Sie mindestens ein Zeichen, und weder / noch \ noch :</translation>
    </message>
    <message>
        <source>Clean up…</source>
        <translation>Aufräumen …</translation>
    </message>
    <message>
        <source>Date</source>
        <translation>Datum</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message numerus="yes">
        <source>Delete %Ln sessions ({size})?</source>
        <translation>
            <numerusform>%Ln Sitzung ({size}) löschen?</numerusform>
            <numerusform>%Ln Sitzungen ({size}) löschen?</numerusform>
        </translation>
    </message>
    <message>
        <source>Delete sessions</source>
        <translation>Sitzungen löschen</translation>
    </message>
    <message>
        <source>By size:</source>
        <translation>Nach Größe:</translation>
    </message>
    <message numerus="yes">
        <source>%Ln sessions, {size}</source>
        <translation>
            <numerusform>%Ln Sitzung, {size}</numerusform>
            <numerusform>%Ln Sitzungen, {size}</numerusform>
        </translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Delete by age</source>
        <translation>Nach Alter löschen</translation>
    </message>
    <message>
        <source>Delete by age:</source>
        <translation>Nach Alter löschen:</translation>
    </message>
    <message>
        <source>Delete by size</source>
        <translation>Nach Größe löschen</translation>
    </message>
    <message>
        <source>Delete…</source>
        <translation>Löschen …</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>Exportieren …</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>Dateien</translation>
    </message>
    <message>
        <source>Find moments in all stored results</source>
        <translation>Momente in allen gespeicherten Ergebnissen finden</translation>
    </message>
    <message>
        <source>Frames</source>
        <translation>Bilder</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>Behalten</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>New name</source>
        <translation>Neuer Name</translation>
    </message>
    <message>
        <source>No sessions yet. Each run of the window and of framefleet detect appears here.</source>
        <translation>Noch keine Sitzungen. Jeder Lauf des Fensters und von „framefleet detect“ erscheint hier.</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Rename the session</source>
        <translation>Die Sitzung umbenennen</translation>
    </message>
    <message>
        <source>Rename…</source>
        <translation>Umbenennen …</translation>
    </message>
    <message>
        <source>Search…</source>
        <translation>Suchen …</translation>
    </message>
    <message>
        <source>Sessions</source>
        <translation>Sitzungen</translation>
    </message>
    <message>
        <source>Show folder</source>
        <translation>Ordner öffnen</translation>
    </message>
    <message>
        <source>Size on disk</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Zustand</translation>
    </message>
    <message>
        <source>Their detections are lost. The videos stay.</source>
        <translation>Ihre Erkennungen gehen verloren. Die Videos bleiben.</translation>
    </message>
    <message>
        <source>cannot delete {path}: {strerror}</source>
        <translation>{path} kann nicht gelöscht werden: {strerror}</translation>
    </message>
    <message>
        <source>cannot rename {path}: {strerror}</source>
        <translation>{path} kann nicht umbenannt werden: {strerror}</translation>
    </message>
    <message>
        <source>complete</source>
        <translation>vollständig</translation>
    </message>
    <message>
        <source>corrected</source>
        <translation>korrigiert</translation>
    </message>
    <message>
        <source>no limit</source>
        <translation>keine Grenze</translation>
    </message>
    <message>
        <source>no results</source>
        <translation>ohne Ergebnisse</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keine</translation>
    </message>
    <message>
        <source>older than 3 months</source>
        <translation>älter als 3 Monate</translation>
    </message>
    <message>
        <source>older than a month</source>
        <translation>älter als ein Monat</translation>
    </message>
    <message>
        <source>older than a week</source>
        <translation>älter als eine Woche</translation>
    </message>
    <message>
        <source>older than a year</source>
        <translation>älter als ein Jahr</translation>
    </message>
    <message>
        <source>the oldest above 1 GiB in all</source>
        <translation>die ältesten über 1 GiB insgesamt</translation>
    </message>
    <message>
        <source>the oldest above 100 GiB in all</source>
        <translation>die ältesten über 100 GiB insgesamt</translation>
    </message>
    <message>
        <source>the oldest above 20 GiB in all</source>
        <translation>die ältesten über 20 GiB insgesamt</translation>
    </message>
    <message>
        <source>the oldest above 5 GiB in all</source>
        <translation>die ältesten über 5 GiB insgesamt</translation>
    </message>
    <message>
        <source>there is already a session named {strip}: choose another name</source>
        <translation>es gibt bereits eine Sitzung namens {strip}: Wählen Sie einen anderen Namen</translation>
    </message>
    <message>
        <source>unreadable</source>
        <translation>nicht lesbar</translation>
    </message>
    <message>
        <source>{number} of {count} complete</source>
        <translation>{number} von {count} vollständig</translation>
    </message>
    <message>
        <source>{used}: shown in the queue. Remove its files from the queue first.</source>
        <translation>{used}: in der Dateiliste. Entfernen Sie zuerst die Dateien aus der Liste.</translation>
    </message>
</context>
<context>
    <name>settings</name>
    <message>
        <source>A process for each device: a failure stays with its device</source>
        <translation>Ein Prozess je Gerät: Ein Absturz bleibt bei seinem Gerät</translation>
    </message>
    <message>
        <source>A value cannot be used: see the message below it</source>
        <translation>Ein Wert ist nicht verwendbar: siehe die Meldung darunter</translation>
    </message>
    <message>
        <source>Advanced</source>
        <translation>Erweitert</translation>
    </message>
    <message>
        <source>Also the whole frame at once, for large objects</source>
        <translation>Auch das ganze Bild auf einmal, für große Objekte</translation>
    </message>
    <message>
        <source>As the model says</source>
        <translation>Wie im Modell angegeben</translation>
    </message>
    <message>
        <source>As the system</source>
        <translation>Wie das System</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>Automatisch</translation>
    </message>
    <message>
        <source>Automatic: NVDEC on GPUs, for what it can decode</source>
        <translation>Automatisch: NVDEC auf GPUs, soweit es kann</translation>
    </message>
    <message>
        <source>Automatic: the best available</source>
        <translation>Automatisch: die besten verfügbaren</translation>
    </message>
    <message>
        <source>Automatic: the fastest whose detections match FP32</source>
        <translation>Automatisch: die schnellste mit denselben Erkennungen wie FP32</translation>
    </message>
    <message>
        <source>BF16</source>
        <translation>BF16</translation>
    </message>
    <message>
        <source>Batch</source>
        <translation>Batch</translation>
    </message>
    <message>
        <source>Begin</source>
        <translation>Anfang</translation>
    </message>
    <message>
        <source>Built engines and other files that are made again when needed</source>
        <translation>Gebaute Engines und andere Dateien, die bei Bedarf neu entstehen</translation>
    </message>
    <message>
        <source>ByteTrack: fast, weak detections continue a track</source>
        <translation>ByteTrack: schnell, schwache Erkennungen setzen eine Spur fort</translation>
    </message>
    <message>
        <source>CPU</source>
        <translation>CPU</translation>
    </message>
    <message>
        <source>Cache</source>
        <translation>Cache</translation>
    </message>
    <message>
        <source>Change…</source>
        <translation>Ändern …</translation>
    </message>
    <message>
        <source>Checking…</source>
        <translation>Wird geprüft …</translation>
    </message>
    <message>
        <source>Choose a folder</source>
        <translation>Einen Ordner wählen</translation>
    </message>
    <message>
        <source>Choose a model that can be used</source>
        <translation>Wählen Sie ein nutzbares Modell</translation>
    </message>
    <message>
        <source>Clean up…</source>
        <translation>Aufräumen …</translation>
    </message>
    <message>
        <source>Clock time</source>
        <translation>Uhrzeit</translation>
    </message>
    <message>
        <source>Columns of tiles</source>
        <translation>Spalten der Kacheln</translation>
    </message>
    <message>
        <source>Confidence</source>
        <translation>Konfidenz</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Dunkel</translation>
    </message>
    <message>
        <source>Darknet weights (*.weights)</source>
        <translation>Darknet-Gewichte (*.weights)</translation>
    </message>
    <message>
        <source>Decode threads</source>
        <translation>Decodier-Threads</translation>
    </message>
    <message>
        <source>Decoding</source>
        <translation>Decodierung</translation>
    </message>
    <message>
        <source>Default</source>
        <translation>Standard</translation>
    </message>
    <message>
        <source>Delete old or large sessions</source>
        <translation>Alte oder große Sitzungen löschen</translation>
    </message>
    <message>
        <source>Depth: the network cut into stages, one per device</source>
        <translation>Depth: das Netz in Stufen geteilt, eine je Gerät</translation>
    </message>
    <message>
        <source>Detection</source>
        <translation>Erkennung</translation>
    </message>
    <message>
        <source>Devices</source>
        <translation>Geräte</translation>
    </message>
    <message>
        <source>Download a model…</source>
        <translation>Modell herunterladen …</translation>
    </message>
    <message>
        <source>Each frame as soon as possible</source>
        <translation>Jedes Bild so früh wie möglich</translation>
    </message>
    <message>
        <source>Empty</source>
        <translation>Leeren</translation>
    </message>
    <message>
        <source>End</source>
        <translation>Ende</translation>
    </message>
    <message>
        <source>Every frame</source>
        <translation>Jedes Bild</translation>
    </message>
    <message>
        <source>Export settings</source>
        <translation>Einstellungen exportieren</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>Exportieren …</translation>
    </message>
    <message>
        <source>FP16</source>
        <translation>FP16</translation>
    </message>
    <message>
        <source>FP32</source>
        <translation>FP32</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>Dateien</translation>
    </message>
    <message>
        <source>Found beside the network, or COCO&apos;s for 80 classes</source>
        <translation>Neben dem Netz, sonst die von COCO (80 Klassen)</translation>
    </message>
    <message>
        <source>Frames: decoded once, dealt to devices by speed</source>
        <translation>Frames: einmal decodiert, nach Tempo an Geräte verteilt</translation>
    </message>
    <message>
        <source>Full frame</source>
        <translation>Ganzes Bild</translation>
    </message>
    <message>
        <source>GPU graphics card CUDA NVIDIA OpenVINO CPU processor</source>
        <translation>GPU Grafikkarte CUDA NVIDIA OpenVINO CPU Prozessor</translation>
    </message>
    <message>
        <source>Import settings</source>
        <translation>Einstellungen importieren</translation>
    </message>
    <message>
        <source>Import…</source>
        <translation>Importieren …</translation>
    </message>
    <message>
        <source>In the metadata of the file</source>
        <translation>In den Metadaten der Datei</translation>
    </message>
    <message>
        <source>In the name of the file</source>
        <translation>Im Namen der Datei</translation>
    </message>
    <message>
        <source>It was not found on this machine.</source>
        <translation>Auf diesem Rechner nicht gefunden.</translation>
    </message>
    <message>
        <source>Labels</source>
        <translation>Labels</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Sprache</translation>
    </message>
    <message>
        <source>Last run: {choice}.</source>
        <translation>Letzter Lauf: {choice}.</translation>
    </message>
    <message>
        <source>Latency budget</source>
        <translation>Latenzbudget</translation>
    </message>
    <message>
        <source>Letterbox: keep the aspect ratio</source>
        <translation>Letterbox: Seitenverhältnis behalten</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Hell</translation>
    </message>
    <message>
        <source>Logs</source>
        <translation>Protokolle</translation>
    </message>
    <message>
        <source>Looking for devices…</source>
        <translation>Geräte werden gesucht …</translation>
    </message>
    <message>
        <source>Mixed: FP32, the last layers BF16</source>
        <translation>Gemischt: FP32, die letzten Schichten BF16</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>Most frames per second</source>
        <translation>Möglichst viele Bilder pro Sekunde</translation>
    </message>
    <message>
        <source>NVDEC: what it cannot decode fails</source>
        <translation>NVDEC: Was es nicht decodieren kann, schlägt fehl</translation>
    </message>
    <message>
        <source>No</source>
        <translation>Nein</translation>
    </message>
    <message>
        <source>No setting has &apos;{text}&apos; in its name.</source>
        <translation>Keine Einstellung hat „{text}“ im Namen.</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Keine</translation>
    </message>
    <message>
        <source>One frame in</source>
        <translation>Ein Bild je</translation>
    </message>
    <message>
        <source>One process for all: takes less memory</source>
        <translation>Ein Prozess für alle: braucht weniger Speicher</translation>
    </message>
    <message>
        <source>Optimized for</source>
        <translation>Optimiert für</translation>
    </message>
    <message>
        <source>Overlap (IoU)</source>
        <translation>Überdeckung (IoU)</translation>
    </message>
    <message>
        <source>Overlap of tiles</source>
        <translation>Überlappung der Kacheln</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>Genauigkeit</translation>
    </message>
    <message>
        <source>Processes</source>
        <translation>Prozesse</translation>
    </message>
    <message>
        <source>Read all settings from a file</source>
        <translation>Alle Einstellungen aus einer Datei lesen</translation>
    </message>
    <message>
        <source>Remove downloaded models</source>
        <translation>Heruntergeladene Modelle entfernen</translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation>Alles zurücksetzen</translation>
    </message>
    <message>
        <source>Reset all settings except the model</source>
        <translation>Alle Einstellungen außer dem Modell zurücksetzen</translation>
    </message>
    <message>
        <source>Resize</source>
        <translation>Skalierung</translation>
    </message>
    <message>
        <source>Rows of tiles</source>
        <translation>Zeilen der Kacheln</translation>
    </message>
    <message>
        <source>Search settings</source>
        <translation>Einstellungen durchsuchen</translation>
    </message>
    <message>
        <source>Segments: all devices share each file</source>
        <translation>Segmente: alle Geräte teilen sich jede Datei</translation>
    </message>
    <message>
        <source>Select at least one device, or the automatic choice.</source>
        <translation>Wählen Sie mindestens ein Gerät oder die automatische Wahl.</translation>
    </message>
    <message>
        <source>Sessions</source>
        <translation>Sitzungen</translation>
    </message>
    <message>
        <source>Topics</source>
        <translation>Themen</translation>
    </message>
    <message>
        <source>Track objects</source>
        <translation>Objekte verfolgen</translation>
    </message>
    <message>
        <source>Write all settings to a file</source>
        <translation>Alle Einstellungen in eine Datei schreiben</translation>
    </message>
    <message>
        <source>frames that a device computes at once</source>
        <translation>Bilder, die ein Gerät zugleich berechnet</translation>
    </message>
    <message>
        <source>of the start, or a time such as 2026-11-01 08:00</source>
        <translation>des Beginns, oder eine Zeit wie 2026-11-01 08:00</translation>
    </message>
    <message>
        <source>or a time such as 7s, or a number of frames</source>
        <translation>oder eine Zeit wie 7s, oder eine Zahl von Bildern</translation>
    </message>
    <message>
        <source>the first value; change it with the slider beside the video</source>
        <translation>zu Beginn; ändern Sie sie mit dem Regler neben dem Video</translation>
    </message>
    <message>
        <source>{name}: no time is found</source>
        <translation>{name}: keine Zeit gefunden</translation>
    </message>
    <message>
        <source>{path} has no settings of Framefleet: choose a file that Framefleet has exported</source>
        <translation>{path} enthält keine Einstellungen von Framefleet: Wählen Sie eine Datei, die Framefleet exportiert hat</translation>
    </message>
    <message>
        <source>“{setting}”</source>
        <translation>„{setting}“</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>1 minute</source>
        <translation>1 Minute</translation>
    </message>
    <message>
        <source>1 second</source>
        <translation>1 Sekunde</translation>
    </message>
    <message>
        <source>10 seconds</source>
        <translation>10 Sekunden</translation>
    </message>
    <message>
        <source>2 frames</source>
        <translation>2 Bilder</translation>
    </message>
    <message>
        <source>25 frames</source>
        <translation>25 Bilder</translation>
    </message>
    <message>
        <source>5 frames</source>
        <translation>5 Bilder</translation>
    </message>
    <message>
        <source>Automatic: Segments</source>
        <translation>Automatisch: Segmente</translation>
    </message>
    <message>
        <source>Labels (*.names *.txt *.yaml)</source>
        <translation>Namen (*.names *.txt *.yaml)</translation>
    </message>
    <message>
        <source>Licence, as the file says: {licence}</source>
        <translation>Lizenz laut Datei: {licence}</translation>
    </message>
    <message>
        <source>Network (.cfg or .onnx)</source>
        <translation>Netz (.cfg oder .onnx)</translation>
    </message>
    <message>
        <source>Networks (*.cfg *.onnx)</source>
        <translation>Netze (*.cfg *.onnx)</translation>
    </message>
    <message>
        <source>Settings (*.json)</source>
        <translation>Einstellungen (*.json)</translation>
    </message>
    <message>
        <source>Shares the processor with the other CPU devices</source>
        <translation>Teilt sich den Prozessor mit den anderen CPU-Geräten</translation>
    </message>
    <message>
        <source>Sharing the work</source>
        <translation>Arbeitsteilung</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>Anzeigen</translation>
    </message>
    <message>
        <source>Strategy</source>
        <translation>Strategie</translation>
    </message>
    <message>
        <source>Streams: each file stays on one device</source>
        <translation>Streams: jede Datei bleibt auf einem Gerät</translation>
    </message>
    <message>
        <source>Stretch to the network&apos;s shape</source>
        <translation>Auf die Form des Netzes strecken</translation>
    </message>
    <message>
        <source>The end</source>
        <translation>Ende</translation>
    </message>
    <message>
        <source>The new folder is used from the next start. Files in the old folder stay there.</source>
        <translation>Der neue Ordner gilt ab dem nächsten Start. Dateien im alten Ordner bleiben dort.</translation>
    </message>
    <message>
        <source>The start</source>
        <translation>Anfang</translation>
    </message>
    <message>
        <source>Theme</source>
        <translation>Design</translation>
    </message>
    <message>
        <source>This computer&apos;s</source>
        <translation>Dieser Rechner</translation>
    </message>
    <message>
        <source>Tile overlap</source>
        <translation>Überlappung</translation>
    </message>
    <message>
        <source>Tiles</source>
        <translation>Kacheln</translation>
    </message>
    <message>
        <source>Tiles: each frame cut into overlapping pieces</source>
        <translation>Tiles: jedes Bild in überlappende Stücke geteilt</translation>
    </message>
    <message>
        <source>Time zone</source>
        <translation>Zeitzone</translation>
    </message>
    <message>
        <source>Unknown</source>
        <translation>Unbekannt</translation>
    </message>
    <message>
        <source>Videos</source>
        <translation>Videos</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source>Window</source>
        <translation>Fenster</translation>
    </message>
    <message>
        <source>a time such as 1:30, or a frame number</source>
        <translation>eine Zeit wie 1:30 oder eine Bildnummer</translation>
    </message>
    <message>
        <source>above it, the weaker of two boxes is removed</source>
        <translation>darüber entfällt der schwächere von zwei Rahmen</translation>
    </message>
    <message>
        <source>before this time or frame number</source>
        <translation>vor dieser Zeit oder Bildnummer</translation>
    </message>
    <message>
        <source>cannot read {path}: {reason}</source>
        <translation>{path} kann nicht gelesen werden: {reason}</translation>
    </message>
    <message>
        <source>cannot write {path}: {reason}</source>
        <translation>{path} kann nicht geschrieben werden: {reason}</translation>
    </message>
    <message>
        <source>columns × rows</source>
        <translation>Spalten × Zeilen</translation>
    </message>
    <message>
        <source>labels</source>
        <translation>Labels</translation>
    </message>
    <message>
        <source>network description</source>
        <translation>Netzbeschreibung</translation>
    </message>
    <message>
        <source>no model is chosen: choose one in the settings, or drop its .cfg and .weights on the window</source>
        <translation>kein Modell gewählt: Wählen Sie eines in den Einstellungen, oder ziehen Sie .cfg und .weights auf das Fenster</translation>
    </message>
    <message>
        <source>of a tile&apos;s side</source>
        <translation>einer Kachelseite</translation>
    </message>
    <message>
        <source>segments that a device decodes at once</source>
        <translation>Segmente, die ein Gerät gleichzeitig decodiert</translation>
    </message>
    <message>
        <source>such as Europe/Berlin</source>
        <translation>etwa Europe/Berlin</translation>
    </message>
    <message>
        <source>the longest that an automatic batch may take on a GPU</source>
        <translation>je automatischem Batch auf einer GPU</translation>
    </message>
    <message>
        <source>weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source>{filename} cannot be deleted: {strerror}</source>
        <translation>{filename} kann nicht gelöscht werden: {strerror}</translation>
    </message>
    <message>
        <source>{path} has the unknown setting &apos;{name}&apos;</source>
        <translation>{path} enthält die unbekannte Einstellung „{name}“</translation>
    </message>
    <message>
        <source>{path} has version {version}, and this Framefleet reads version {own}: export the settings again</source>
        <translation>{path} hat Version {version}, und dieses Framefleet liest Version {own}: Exportieren Sie die Einstellungen erneut</translation>
    </message>
    <message>
        <source>{path} is damaged: export the settings again</source>
        <translation>{path} ist beschädigt: Exportieren Sie die Einstellungen erneut</translation>
    </message>
    <message>
        <source>{path}, setting &apos;{name}&apos;: {error}</source>
        <translation>{path}, Einstellung „{name}“: {error}</translation>
    </message>
    <message>
        <source>{summary}
Labels: {labels}</source>
        <translation>{summary}
Labels: {labels}</translation>
    </message>
</context>
<context>
    <name>stages</name>
    <message>
        <source>decode</source>
        <translation>Decodieren</translation>
    </message>
    <message>
        <source>deliver</source>
        <translation>Ausliefern</translation>
    </message>
    <message>
        <source>detect</source>
        <translation>Erkennung</translation>
    </message>
    <message>
        <source>infer</source>
        <translation>Inferenz</translation>
    </message>
    <message>
        <source>network</source>
        <translation>Netz</translation>
    </message>
    <message>
        <source>postprocess</source>
        <translation>Nachbereitung</translation>
    </message>
    <message>
        <source>preprocess</source>
        <translation>Vorbereitung</translation>
    </message>
    <message>
        <source>queue</source>
        <translation>Warten</translation>
    </message>
    <message>
        <source>upload</source>
        <translation>Upload</translation>
    </message>
    <message>
        <source>waiting</source>
        <translation>Warten</translation>
    </message>
</context>
<context>
    <name>strategies</name>
    <message>
        <source>Automatic</source>
        <translation>Automatisch</translation>
    </message>
    <message>
        <source>Depth</source>
        <translation>Depth</translation>
    </message>
    <message>
        <source>Frames</source>
        <translation>Frames</translation>
    </message>
    <message>
        <source>Segments</source>
        <translation>Segmente</translation>
    </message>
    <message>
        <source>Streams</source>
        <translation>Streams</translation>
    </message>
    <message>
        <source>Tiles</source>
        <translation>Tiles</translation>
    </message>
</context>
<context>
    <name>streams</name>
    <message numerus="yes">
        <source>%Ln more GPUs of this kind would do. The newest frame of each stream is analysed.</source>
        <translation>
            <numerusform>Noch %Ln GPU dieser Art würde genügen. Analysiert wird das neueste Bild jedes Streams.</numerusform>
            <numerusform>Noch %Ln GPUs dieser Art würden genügen. Analysiert wird das neueste Bild jedes Streams.</numerusform>
        </translation>
    </message>
    <message>
        <source>Play</source>
        <translation>Abspielen</translation>
    </message>
    <message>
        <source>Play what was recorded from this moment on</source>
        <translation>Die Aufzeichnung ab diesem Moment abspielen</translation>
    </message>
    <message>
        <source>A GPU, a smaller model or fewer streams would help. The newest frame of each stream is analysed.</source>
        <translation>Eine GPU, ein kleineres Modell oder weniger Streams würden helfen. Analysiert wird das neueste Bild jedes Streams.</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>Adresse</translation>
    </message>
    <message>
        <source>Analysed by {device}, where these streams are limited by: {stage}</source>
        <translation>Analysiert von {device}; dessen Streams begrenzt: {stage}</translation>
    </message>
    <message>
        <source>Analysed by {device}, which waits for frames</source>
        <translation>Analysiert von {device}; das Gerät wartet auf Bilder</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Connecting…</source>
        <translation>Verbindung wird aufgebaut …</translation>
    </message>
    <message>
        <source>Connects again in {seconds}</source>
        <translation>Neue Verbindung in {seconds}</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>End the test</source>
        <translation>Test beenden</translation>
    </message>
    <message>
        <source>Fewer streams, or streams with fewer pixels, would help. The newest frame of each stream is analysed.</source>
        <translation>Weniger Streams oder Streams mit weniger Pixeln würden helfen. Von jedem Stream wird das neueste Bild analysiert.</translation>
    </message>
    <message>
        <source>From packet to boxes: {p50} ms, 99 of 100 within {p99} ms</source>
        <translation>Vom Paket zu den Boxen: {p50} ms, 99 von 100 in {p99} ms</translation>
    </message>
    <message>
        <source>Keep the stream as it arrives, in files of some minutes</source>
        <translation>Den Stream so aufheben, wie er ankommt, in Dateien von einigen Minuten</translation>
    </message>
    <message>
        <source>Keep user and password in the system&apos;s key ring</source>
        <translation>Benutzer und Passwort im Schlüsselbund des Systems speichern</translation>
    </message>
    <message>
        <source>Last streams</source>
        <translation>Letzte Streams</translation>
    </message>
    <message>
        <source>Live</source>
        <translation>Live</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Open stream</source>
        <translation>Stream öffnen</translation>
    </message>
    <message>
        <source>Password</source>
        <translation>Passwort</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>Angehalten</translation>
    </message>
    <message>
        <source>Picture of the stream</source>
        <translation>Bild des Streams</translation>
    </message>
    <message>
        <source>Record</source>
        <translation>Aufzeichnen</translation>
    </message>
    <message>
        <source>Recording is not possible</source>
        <translation>Aufzeichnen ist nicht möglich</translation>
    </message>
    <message>
        <source>Remove {address}</source>
        <translation>{address} entfernen</translation>
    </message>
    <message>
        <source>Return to the newest picture</source>
        <translation>Zum neuesten Bild zurück</translation>
    </message>
    <message>
        <source>Save the picture with its boxes (S)</source>
        <translation>Bild mit seinen Boxen speichern (S)</translation>
    </message>
    <message>
        <source>Snapshot</source>
        <translation>Foto</translation>
    </message>
    <message>
        <source>Stalled</source>
        <translation>Keine Bilder</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Stoppen</translation>
    </message>
    <message>
        <source>Stop recording</source>
        <translation>Aufzeichnung beenden</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>Gestoppt</translation>
    </message>
    <message>
        <source>Stored results</source>
        <translation>Gespeicherte Ergebnisse</translation>
    </message>
    <message>
        <source>Stored: {time}</source>
        <translation>Gespeichert: {time}</translation>
    </message>
    <message>
        <source>Test</source>
        <translation>Testen</translation>
    </message>
    <message>
        <source>The GPU decodes this stream, so a picture is shown with each keyframe only.</source>
        <translation>Die GPU dekodiert diesen Stream, deshalb wird nur mit jedem Schlüsselbild ein Bild gezeigt.</translation>
    </message>
    <message>
        <source>The devices analyse {some} of {all} frames/s of each stream</source>
        <translation>Die Geräte analysieren {some} von {all} Bildern/s jedes Streams</translation>
    </message>
    <message>
        <source>The key ring does not keep the password: {why}</source>
        <translation>Der Schlüsselbund speichert das Passwort nicht: {why}</translation>
    </message>
    <message>
        <source>The password was not kept</source>
        <translation>Das Passwort wurde nicht gespeichert</translation>
    </message>
    <message>
        <source>The source states {rate} frames/s</source>
        <translation>Die Quelle gibt {rate} Bilder/s an</translation>
    </message>
    <message>
        <source>The stream is being tested</source>
        <translation>Der Stream wird getestet</translation>
    </message>
    <message>
        <source>This is not an address of a stream: it begins with rtsp://, http:// or camera:.</source>
        <translation>Das ist keine Adresse eines Streams: Sie beginnt mit rtsp://, http:// oder camera:.</translation>
    </message>
    <message>
        <source>This moment was not recorded.</source>
        <translation>Dieser Moment wurde nicht aufgezeichnet.</translation>
    </message>
    <message>
        <source>User</source>
        <translation>Benutzer</translation>
    </message>
    <message>
        <source>Waiting</source>
        <translation>Wartet</translation>
    </message>
    <message>
        <source>Waiting for a keyframe…</source>
        <translation>Wartet auf ein Schlüsselbild …</translation>
    </message>
    <message>
        <source>analysed {count}</source>
        <translation>analysiert {count}</translation>
    </message>
    <message>
        <source>dropped {count}</source>
        <translation>verworfen {count}</translation>
    </message>
    <message>
        <source>if the camera asks for it</source>
        <translation>falls die Kamera ihn verlangt</translation>
    </message>
    <message>
        <source>received {count}</source>
        <translation>empfangen {count}</translation>
    </message>
    <message>
        <source>rtsp://192.168.1.20:554/stream1</source>
        <translation>rtsp://192.168.1.20:554/stream1</translation>
    </message>
    <message>
        <source>rtsp://…, http://… (MJPEG, HLS or a video file), or camera:0 for a camera of this machine</source>
        <translation>rtsp://…, http://… (MJPEG, HLS oder eine Videodatei) oder camera:0 für eine Kamera dieses Rechners</translation>
    </message>
    <message>
        <source>{rate} frames/s</source>
        <translation>{rate} Bilder/s</translation>
    </message>
    <message>
        <source>{state} · picture {age} s old</source>
        <translation>{state} · Bild {age} s alt</translation>
    </message>
</context>
<context>
    <name>timeline</name>
    <message numerus="yes">
        <source>%Ln crossings</source>
        <translation>
            <numerusform>%Ln Überquerung</numerusform>
            <numerusform>%Ln Überquerungen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln frames failed</source>
        <translation>
            <numerusform>%Ln Bild fehlgeschlagen</numerusform>
            <numerusform>%Ln Bilder fehlgeschlagen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>+ %Ln classes</source>
        <translation>
            <numerusform>+ %Ln Klasse</numerusform>
            <numerusform>+ %Ln Klassen</numerusform>
        </translation>
    </message>
    <message>
        <source>Choose the whole video</source>
        <translation>Das ganze Video wählen</translation>
    </message>
    <message>
        <source>Chosen part</source>
        <translation>Gewählter Abschnitt</translation>
    </message>
    <message>
        <source>Detect only in this part</source>
        <translation>Nur in diesem Abschnitt erkennen</translation>
    </message>
    <message>
        <source>Nothing that is shown appears after this</source>
        <translation>Danach erscheint keines der gezeigten Objekte</translation>
    </message>
    <message>
        <source>Nothing that is shown appears before this</source>
        <translation>Davor erscheint keines der gezeigten Objekte</translation>
    </message>
    <message>
        <source>Position in the video</source>
        <translation>Position im Video</translation>
    </message>
    <message>
        <source>Save this part…</source>
        <translation>Diesen Abschnitt speichern …</translation>
    </message>
    <message>
        <source>The chosen part: drag its edges on the timeline, or press Shift+I and O (X: none)</source>
        <translation>Der gewählte Abschnitt: seine Ränder auf der Zeitleiste ziehen oder Umschalt+I und O drücken (X: keiner)</translation>
    </message>
    <message>
        <source>fewer classes</source>
        <translation>weniger Klassen</translation>
    </message>
    <message>
        <source>picture of {time}</source>
        <translation>Bild von {time}</translation>
    </message>
</context>
<context>
    <name>topology</name>
    <message>
        <source> bonded</source>
        <translation> gebündelt</translation>
    </message>
    <message>
        <source>; the most on link {number}: {rx}</source>
        <translation>; am meisten auf Verbindung {number}: {rx}</translation>
    </message>
    <message>
        <source>All links of each:</source>
        <translation>Alle Verbindungen jeder GPU:</translation>
    </message>
    <message>
        <source>CPU {usage} %</source>
        <translation>CPU {usage} %</translation>
    </message>
    <message>
        <source>CPUs {cpus}</source>
        <translation>CPUs {cpus}</translation>
    </message>
    <message>
        <source>Connections between GPUs</source>
        <translation>Verbindungen zwischen GPUs</translation>
    </message>
    <message>
        <source>Connects PCIe to a processor</source>
        <translation>Verbindet PCIe mit einem Prozessor</translation>
    </message>
    <message>
        <source>Devices</source>
        <translation>Geräte</translation>
    </message>
    <message>
        <source>Devices behind it exchange data without a processor</source>
        <translation>Geräte dahinter tauschen Daten ohne Prozessor aus</translation>
    </message>
    <message>
        <source>Each may read the other&apos;s memory.</source>
        <translation>Jede darf den Speicher der anderen lesen.</translation>
    </message>
    <message>
        <source>GPU to GPU</source>
        <translation>GPU zu GPU</translation>
    </message>
    <message>
        <source>GPUs: {inside}</source>
        <translation>GPUs: {inside}</translation>
    </message>
    <message>
        <source>NUMA node</source>
        <translation>NUMA-Knoten</translation>
    </message>
    <message>
        <source>NUMA node unknown</source>
        <translation>NUMA-Knoten unbekannt</translation>
    </message>
    <message>
        <source>NUMA node {node}</source>
        <translation>NUMA-Knoten {node}</translation>
    </message>
    <message>
        <source>NVLink</source>
        <translation>NVLink</translation>
    </message>
    <message>
        <source>NVLink ×{nvlinks}</source>
        <translation>NVLink ×{nvlinks}</translation>
    </message>
    <message>
        <source>No GPU</source>
        <translation>Keine GPU</translation>
    </message>
    <message>
        <source>No GPU reads another&apos;s memory</source>
        <translation>Keine GPU liest den Speicher einer anderen</translation>
    </message>
    <message>
        <source>Not all GPUs read each other&apos;s memory</source>
        <translation>Nicht alle GPUs lesen den Speicher der anderen</translation>
    </message>
    <message>
        <source>PCIe host bridge</source>
        <translation>PCIe-Host-Bridge</translation>
    </message>
    <message>
        <source>PCIe switch</source>
        <translation>PCIe-Switch</translation>
    </message>
    <message>
        <source>Processors and the memory that is nearest to them</source>
        <translation>Prozessoren und der Speicher in ihrer Nähe</translation>
    </message>
    <message>
        <source>Topology</source>
        <translation>Topologie</translation>
    </message>
    <message>
        <source>Put {panel} back here</source>
        <translation>{panel} wieder hier zeigen</translation>
    </message>
    <message>
        <source>Between the NUMA nodes</source>
        <translation>Zwischen den NUMA-Knoten</translation>
    </message>
    <message>
        <source>NUMA nodes</source>
        <translation>NUMA-Knoten</translation>
    </message>
    <message>
        <source>Neither reads the other&apos;s memory: they exchange data through the processors&apos; memory.</source>
        <translation>Keine liest den Speicher der anderen: Sie tauschen Daten über den Speicher der Prozessoren aus.</translation>
    </message>
    <message>
        <source>Show {panel} in its own window</source>
        <translation>{panel} in eigenem Fenster zeigen</translation>
    </message>
    <message>
        <source>The system does not report their location</source>
        <translation>Das System meldet nicht, wo sie sind</translation>
    </message>
    <message>
        <source>The topology is incomplete: {problem}.</source>
        <translation>Die Topologie ist unvollständig: {problem}.</translation>
    </message>
    <message>
        <source>Topology: {names}</source>
        <translation>Topologie: {names}</translation>
    </message>
    <message>
        <source>an unknown NUMA node</source>
        <translation>einem unbekannten NUMA-Knoten</translation>
    </message>
    <message>
        <source>bright: traffic</source>
        <translation>hell: Datenverkehr</translation>
    </message>
    <message>
        <source>bright: traffic &amp;nbsp; ↓&amp;nbsp;receives &amp;nbsp; ↑&amp;nbsp;sends</source>
        <translation>hell: Verkehr &amp;nbsp; ↓&amp;nbsp;empfängt &amp;nbsp; ↑&amp;nbsp;sendet</translation>
    </message>
    <message>
        <source>in an unknown way</source>
        <translation>auf unbekanntem Weg</translation>
    </message>
    <message>
        <source>near NUMA node {nodes}</source>
        <translation>nahe NUMA-Knoten {nodes}</translation>
    </message>
    <message>
        <source>no CPUs</source>
        <translation>keine CPUs</translation>
    </message>
    <message>
        <source>no GPU</source>
        <translation>keine GPU</translation>
    </message>
    <message>
        <source>nothing is known</source>
        <translation>nichts bekannt</translation>
    </message>
    <message>
        <source>over PCIe {way}</source>
        <translation>über PCIe {way}</translation>
    </message>
    <message>
        <source>place unknown</source>
        <translation>Ort unbekannt</translation>
    </message>
    <message>
        <source>through a processor&apos;s PCIe host bridge</source>
        <translation>durch die PCIe-Host-Bridge eines Prozessors</translation>
    </message>
    <message>
        <source>through one PCIe switch</source>
        <translation>durch einen PCIe-Switch</translation>
    </message>
    <message>
        <source>through several PCIe host bridges of one NUMA node</source>
        <translation>durch mehrere PCIe-Host-Bridges eines NUMA-Knotens</translation>
    </message>
    <message>
        <source>through several PCIe switches, not through a processor</source>
        <translation>durch mehrere PCIe-Switches, nicht durch einen Prozessor</translation>
    </message>
    <message>
        <source>through the connection between NUMA nodes</source>
        <translation>durch die Verbindung zwischen NUMA-Knoten</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>unbekannt</translation>
    </message>
    <message>
        <source>{gpu} in {value}</source>
        <translation>{gpu} in {value}</translation>
    </message>
    <message>
        <source>{names}: each pair by {links}</source>
        <translation>{names}: je zwei durch {links}</translation>
    </message>
    <message>
        <source>{which}: they exchange data through the processors&apos; memory.</source>
        <translation>{which}: Sie tauschen Daten über den Speicher der Prozessoren aus.</translation>
    </message>
    <message>
        <source>{near}, CPUs {cpus}</source>
        <translation>{near}, CPUs {cpus}</translation>
    </message>
    <message>
        <source>{nvlinks} NVLinks</source>
        <translation>{nvlinks} NVLinks</translation>
    </message>
    <message>
        <source>{nvlinks}; over PCIe {way}</source>
        <translation>{nvlinks}; über PCIe {way}</translation>
    </message>
    <message>
        <source>{one} and {other}: {links}</source>
        <translation>{one} und {other}: {links}</translation>
    </message>
    <message>
        <source>{one} and {other}: {over}.</source>
        <translation>{one} und {other}: {over}.</translation>
    </message>
</context>
<context>
    <name>tuning</name>
    <message>
        <source>Engines can be tuned when all files are done.</source>
        <translation>Engines lassen sich abstimmen, wenn alle Dateien fertig sind.</translation>
    </message>
    <message>
        <source>Look for faster ones</source>
        <translation>Schnellere suchen</translation>
    </message>
    <message>
        <source>Looking for faster engines…</source>
        <translation>Schnellere Engines werden gesucht …</translation>
    </message>
    <message>
        <source>Looking for faster ones takes one to two minutes for each device. Later files then use them.</source>
        <translation>Die Suche nach schnelleren dauert ein bis zwei Minuten je Gerät. Spätere Dateien verwenden diese dann.</translation>
    </message>
    <message>
        <source>The engines in use are those that were ready soonest</source>
        <translation>Die verwendeten Engines sind die, die zuerst fertig waren</translation>
    </message>
    <message>
        <source>The engines were not tuned</source>
        <translation>Die Engines wurden nicht abgestimmt</translation>
    </message>
    <message>
        <source>{device} has the fastest engine already: {after} images/s</source>
        <translation>{device} hat schon die schnellste Engine: {after} Bilder/s</translation>
    </message>
    <message>
        <source>{device}: {before} → {after} images/s</source>
        <translation>{device}: {before} → {after} Bilder/s</translation>
    </message>
</context>
<context>
    <name>viewer</name>
    <message>
        <source> · {rate} frames/s</source>
        <translation> · {rate} Bilder/s</translation>
    </message>
    <message>
        <source>All</source>
        <translation>Alle</translation>
    </message>
    <message>
        <source>At {pts}: {found}</source>
        <translation>Bei {pts}: {found}</translation>
    </message>
    <message>
        <source>Classes</source>
        <translation>Klassen</translation>
    </message>
    <message>
        <source>Clock time</source>
        <translation>Uhrzeit</translation>
    </message>
    <message>
        <source>Confidence</source>
        <translation>Konfidenz</translation>
    </message>
    <message>
        <source>Confidence from</source>
        <translation>Konfidenz ab</translation>
    </message>
    <message>
        <source>Confidence from, in percent</source>
        <translation>Konfidenz ab, in Prozent</translation>
    </message>
    <message>
        <source>Detection: {summary}</source>
        <translation>Erkennung: {summary}</translation>
    </message>
    <message>
        <source>Frame</source>
        <translation>Bild</translation>
    </message>
    <message>
        <source>Full screen</source>
        <translation>Vollbild</translation>
    </message>
    <message>
        <source>Hide all classes</source>
        <translation>Alle Klassen ausblenden</translation>
    </message>
    <message>
        <source>Length</source>
        <translation>Länge</translation>
    </message>
    <message>
        <source>Next frame</source>
        <translation>Nächstes Bild</translation>
    </message>
    <message>
        <source>No class has such a name.</source>
        <translation>Keine Klasse heißt so.</translation>
    </message>
    <message>
        <source>No detections for this frame: {failure}</source>
        <translation>Keine Erkennungen für dieses Bild: {failure}</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Keine</translation>
    </message>
    <message>
        <source>Not analysed</source>
        <translation>Nicht analysiert</translation>
    </message>
    <message>
        <source>Not analysed yet</source>
        <translation>Noch nicht analysiert</translation>
    </message>
    <message>
        <source>Not analysed: detection failed</source>
        <translation>Nicht analysiert: Erkennung fehlgeschlagen</translation>
    </message>
    <message>
        <source>Not analysed: detection was cancelled</source>
        <translation>Nicht analysiert: Erkennung abgebrochen</translation>
    </message>
    <message>
        <source>Opening…</source>
        <translation>Wird geöffnet …</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>Shown: {width} × {height} ({scale})</source>
        <translation>Gezeigt: {width} × {height} ({scale})</translation>
    </message>
    <message>
        <source>In step by clock time</source>
        <translation>Im Gleichlauf nach Uhrzeit</translation>
    </message>
    <message>
        <source>Choice of classes</source>
        <translation>Auswahl der Klassen</translation>
    </message>
    <message>
        <source>Confidence from {percent} %</source>
        <translation>Konfidenz ab {percent} %</translation>
    </message>
    <message>
        <source>In step from their beginnings</source>
        <translation>Im Gleichlauf ab Beginn</translation>
    </message>
    <message>
        <source>More</source>
        <translation>Mehr</translation>
    </message>
    <message>
        <source>No boxes: another run has replaced these results</source>
        <translation>Keine Rahmen: Ein anderer Lauf hat diese Ergebnisse ersetzt</translation>
    </message>
    <message>
        <source>Not analysed yet: detection goes here next</source>
        <translation>Noch nicht analysiert: die Erkennung macht hier weiter</translation>
    </message>
    <message>
        <source>Not analysed yet: detection goes through the file in order</source>
        <translation>Noch nicht analysiert: die Erkennung geht die Datei der Reihe nach durch</translation>
    </message>
    <message>
        <source>Not analysed: outside the analysed part</source>
        <translation>Nicht analysiert: außerhalb des analysierten Abschnitts</translation>
    </message>
    <message>
        <source>One video</source>
        <translation>Ein Video</translation>
    </message>
    <message>
        <source>Play</source>
        <translation>Abspielen</translation>
    </message>
    <message>
        <source>Previous frame</source>
        <translation>Voriges Bild</translation>
    </message>
    <message>
        <source>Search classes</source>
        <translation>Klassen suchen</translation>
    </message>
    <message>
        <source>Show all classes</source>
        <translation>Alle Klassen zeigen</translation>
    </message>
    <message>
        <source>Show detections from this confidence on</source>
        <translation>Erkennungen ab dieser Konfidenz zeigen</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>Tempo</translation>
    </message>
    <message>
        <source>The classes of the model appear here.</source>
        <translation>Hier erscheinen die Klassen des Modells.</translation>
    </message>
    <message>
        <source>The clock time of the picture</source>
        <translation>Die Uhrzeit dieses Bildes</translation>
    </message>
    <message>
        <source>The clock time of this video is unknown</source>
        <translation>Die Uhrzeit dieses Videos ist unbekannt</translation>
    </message>
    <message>
        <source>The number of the frame, from 0</source>
        <translation>Die Nummer des Bildes, ab 0</translation>
    </message>
    <message>
        <source>The preview process ended {restarts} times on this file: {reason}.</source>
        <translation>Der Vorschauprozess endete {restarts}-mal bei dieser Datei: {reason}.</translation>
    </message>
    <message>
        <source>This video has no picture at this time</source>
        <translation>Dieses Video hat zu dieser Zeit kein Bild</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>Video</source>
        <translation>Video</translation>
    </message>
    <message>
        <source>Wait</source>
        <translation>Warten</translation>
    </message>
    <message>
        <source>Wait for detection</source>
        <translation>Auf Erkennung warten</translation>
    </message>
    <message>
        <source>Wait for detection: play no further than what is analysed</source>
        <translation>Auf Erkennung warten: nicht weiter abspielen, als analysiert ist</translation>
    </message>
    <message>
        <source>Waits for detection</source>
        <translation>Wartet auf die Erkennung</translation>
    </message>
    <message>
        <source>class {class_id}</source>
        <translation>Klasse {class_id}</translation>
    </message>
    <message>
        <source>frame {number}</source>
        <translation>Bild {number}</translation>
    </message>
    <message>
        <source>not analysed</source>
        <translation>nicht analysiert</translation>
    </message>
    <message>
        <source>{description}
Double-click shows only this class</source>
        <translation>{description}
Doppelklick zeigt nur diese Klasse</translation>
    </message>
    <message>
        <source>{label} · {score}
{width} × {height} at {x}, {y}</source>
        <translation>{label} · {score}
{width} × {height} bei {x}, {y}</translation>
    </message>
    <message numerus="yes">
        <source>{visible} of %Ln boxes · {device}</source>
        <translation>
            <numerusform>{visible} von %Ln Rahmen · {device}</numerusform>
            <numerusform>{visible} von %Ln Rahmen · {device}</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>widgets</name>
    <message numerus="yes">
        <source>%Ln more messages</source>
        <translation>
            <numerusform>Eine weitere Meldung</numerusform>
            <numerusform>%Ln weitere Meldungen</numerusform>
        </translation>
    </message>
    <message>
        <source>Choose {name}</source>
        <translation>{name} wählen</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>Wählen …</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Schließen</translation>
    </message>
</context>
<context>
    <name>window</name>
    <message>
        <source> · building {building}</source>
        <translation> · baut {building}</translation>
    </message>
    <message>
        <source> · {count} failed</source>
        <translation> · {count} ausgefallen</translation>
    </message>
    <message numerus="yes">
        <source>%Ln files waiting</source>
        <translation>
            <numerusform>%Ln Datei wartet</numerusform>
            <numerusform>%Ln Dateien warten</numerusform>
        </translation>
    </message>
    <message>
        <source>A restart now continues where detection stops.</source>
        <translation>Ein Neustart jetzt macht dort weiter, wo die Erkennung aufhört.</translation>
    </message>
    <message>
        <source>About Framefleet</source>
        <translation>Über Framefleet</translation>
    </message>
    <message>
        <source>Add videos</source>
        <translation>Videos hinzufügen</translation>
    </message>
    <message>
        <source>Change…</source>
        <translation>Ändern …</translation>
    </message>
    <message>
        <source>Choose a model</source>
        <translation>Modell wählen</translation>
    </message>
    <message>
        <source>Choose a model…</source>
        <translation>Modell wählen …</translation>
    </message>
    <message>
        <source>Choose model…</source>
        <translation>Modell wählen …</translation>
    </message>
    <message>
        <source>Classes and devices</source>
        <translation>Klassen und Geräte</translation>
    </message>
    <message>
        <source>Compare with other results…</source>
        <translation>Mit anderen Ergebnissen vergleichen …</translation>
    </message>
    <message>
        <source>Connect to a cluster…</source>
        <translation>Mit einem Cluster verbinden …</translation>
    </message>
    <message>
        <source>Correct detections and tracks</source>
        <translation>Erkennungen und Spuren korrigieren</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>Demo model</source>
        <translation>Modell der Demo</translation>
    </message>
    <message>
        <source>Detect objects in your videos</source>
        <translation>Objekte in Ihren Videos erkennen</translation>
    </message>
    <message>
        <source>Devices start with the first file.</source>
        <translation>Geräte starten mit der ersten Datei.</translation>
    </message>
    <message>
        <source>Done again: {what}</source>
        <translation>Wiederholt: {what}</translation>
    </message>
    <message>
        <source>Download one with a click, or drop an .onnx file, or a Darknet .cfg and its .weights, anywhere on this window.</source>
        <translation>Laden Sie eines herunter, oder ziehen Sie eine .onnx-Datei oder eine .cfg und ihre .weights auf dieses Fenster.</translation>
    </message>
    <message>
        <source>Drop videos, pictures or folders anywhere on this window, or open them.</source>
        <translation>Ziehen Sie Videos, Einzelbilder oder Ordner auf dieses Fenster, oder öffnen Sie sie.</translation>
    </message>
    <message>
        <source>Events</source>
        <translation>Ereignisse</translation>
    </message>
    <message>
        <source>Everything runs on this machine, on every device you let it use.</source>
        <translation>Alles läuft auf diesem Rechner, auf jedem Gerät, das Sie freigeben.</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>Exportieren …</translation>
    </message>
    <message>
        <source>Framefleet {version} detects objects in videos with YOLOv4, on every device of this machine.</source>
        <translation>Framefleet {version} erkennt Objekte in Videos mit YOLOv4, auf jedem Gerät dieses Rechners.</translation>
    </message>
    <message>
        <source>Full screen</source>
        <translation>Vollbild</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>Hilfe</translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <source>Last streams:</source>
        <translation>Letzte Streams:</translation>
    </message>
    <message>
        <source>Lines, zones and events</source>
        <translation>Linien, Zonen und Ereignisse</translation>
    </message>
    <message>
        <source>Log: {path}</source>
        <translation>Protokoll: {path}</translation>
    </message>
    <message>
        <source>Look for faster engines</source>
        <translation>Schnellere Engines suchen</translation>
    </message>
    <message>
        <source>Model: {name}</source>
        <translation>Modell: {name}</translation>
    </message>
    <message>
        <source>More</source>
        <translation>Mehr</translation>
    </message>
    <message>
        <source>No device in use yet</source>
        <translation>Noch kein Gerät in Gebrauch</translation>
    </message>
    <message>
        <source>No device left</source>
        <translation>Kein Gerät übrig</translation>
    </message>
    <message>
        <source>No longer possible: {what}</source>
        <translation>Nicht mehr möglich: {what}</translation>
    </message>
    <message>
        <source>No video at hand? Framefleet has a demo with its own video and model.</source>
        <translation>Kein Video zur Hand? Framefleet hat eine Demo mit eigenem Video und Modell.</translation>
    </message>
    <message>
        <source>One, four, nine or sixteen videos</source>
        <translation>Ein, vier, neun oder sechzehn Videos</translation>
    </message>
    <message>
        <source>Open a camera or stream (Ctrl+L)</source>
        <translation>Kamera oder Stream öffnen (Strg+L)</translation>
    </message>
    <message>
        <source>Open a folder (Ctrl+Shift+O)</source>
        <translation>Einen Ordner öffnen (Strg+Umschalt+O)</translation>
    </message>
    <message>
        <source>Open a folder of videos or pictures</source>
        <translation>Einen Ordner mit Videos oder Einzelbildern öffnen</translation>
    </message>
    <message>
        <source>Open files (Ctrl+O)</source>
        <translation>Dateien öffnen (Strg+O)</translation>
    </message>
    <message>
        <source>Open files…</source>
        <translation>Dateien öffnen …</translation>
    </message>
    <message>
        <source>Open folder…</source>
        <translation>Ordner öffnen …</translation>
    </message>
    <message>
        <source>Open recent</source>
        <translation>Zuletzt geöffnet</translation>
    </message>
    <message>
        <source>Open stored results</source>
        <translation>Gespeicherte Ergebnisse öffnen</translation>
    </message>
    <message>
        <source>Open stored results…</source>
        <translation>Gespeicherte Ergebnisse öffnen …</translation>
    </message>
    <message>
        <source>Open stream…</source>
        <translation>Stream öffnen …</translation>
    </message>
    <message>
        <source>Open videos and pictures</source>
        <translation>Videos und Einzelbilder öffnen</translation>
    </message>
    <message>
        <source>Open…</source>
        <translation>Öffnen …</translation>
    </message>
    <message>
        <source>Over the picture</source>
        <translation>Über dem Video</translation>
    </message>
    <message>
        <source>Put it back</source>
        <translation>Zurückholen</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>Dateien</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>Beenden</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>Wiederholen</translation>
    </message>
    <message>
        <source>Restart now</source>
        <translation>Jetzt neu starten</translation>
    </message>
    <message>
        <source>Search all results…</source>
        <translation>Alle Ergebnisse durchsuchen …</translation>
    </message>
    <message>
        <source>Sessions…</source>
        <translation>Sitzungen …</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Settings…</source>
        <translation>Einstellungen …</translation>
    </message>
    <message>
        <source>Several videos</source>
        <translation>Mehrere Videos</translation>
    </message>
    <message>
        <source>Stored results (*{session} *{list});;All files (*)</source>
        <translation>Gespeicherte Ergebnisse (*{session} *{list});;Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Stored results of {model}</source>
        <translation>Gespeicherte Ergebnisse von {model}</translation>
    </message>
    <message>
        <source>Strategy: {strategy}</source>
        <translation>Strategie: {strategy}</translation>
    </message>
    <message>
        <source>The demo has its own model. Click to choose another.</source>
        <translation>Die Demo hat ihr eigenes Modell. Klicken Sie, um ein anderes zu wählen.</translation>
    </message>
    <message>
        <source>The language changes at the next start</source>
        <translation>Die Sprache wechselt beim nächsten Start</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>Undone: {what}</source>
        <translation>Zurückgenommen: {what}</translation>
    </message>
    <message>
        <source>Videos and pictures ({media});;All files (*)</source>
        <translation>Videos und Einzelbilder ({media});;Alle Dateien (*)</translation>
    </message>
    <message>
        <source>View</source>
        <translation>Ansicht</translation>
    </message>
    <message>
        <source>Watch the demo</source>
        <translation>Demo ansehen</translation>
    </message>
    <message>
        <source>building the engine</source>
        <translation>Engine wird gebaut</translation>
    </message>
    <message>
        <source>{left} left</source>
        <translation>noch {left}</translation>
    </message>
    <message>
        <source>{name}
{summary}
Click to change</source>
        <translation>{name}
{summary}
Klicken, um es zu ändern</translation>
    </message>
    <message>
        <source>{panel}: shown in its own window</source>
        <translation>{panel}: in eigenem Fenster</translation>
    </message>
    <message numerus="yes">
        <source>{percent} of %Ln files</source>
        <translation>
            <numerusform>{percent} von %Ln Datei</numerusform>
            <numerusform>{percent} von %Ln Dateien</numerusform>
        </translation>
    </message>
    <message>
        <source>{total} frames/s</source>
        <translation>{total} Bilder/s</translation>
    </message>
    <message>
        <source>{width} × {height} pixels, {classes} classes, {parameters} million parameters, {gflops} GFLOP a picture</source>
        <translation>{width} × {height} Pixel, {classes} Klassen, {parameters} Mio. Parameter, {gflops} GFLOP je Bild</translation>
    </message>
</context>
<context>
    <name>zones</name>
    <message>
        <source>A line or zone needs a name.</source>
        <translation>Eine Linie oder Zone braucht einen Namen.</translation>
    </message>
    <message>
        <source>All</source>
        <translation>Alle</translation>
    </message>
    <message>
        <source>Another line or zone has the name &apos;{name}&apos;.</source>
        <translation>Eine andere Linie oder Zone heißt bereits „{name}“.</translation>
    </message>
    <message>
        <source>Bottom of the box</source>
        <translation>Unterkante des Rahmens</translation>
    </message>
    <message>
        <source>Centre of the box</source>
        <translation>Mitte des Rahmens</translation>
    </message>
    <message>
        <source>Classes</source>
        <translation>Klassen</translation>
    </message>
    <message>
        <source>Counted while detecting, up to {time}.</source>
        <translation>Während der Erkennung gezählt, bis {time}.</translation>
    </message>
    <message>
        <source>Counts over time</source>
        <translation>Zeitverlauf</translation>
    </message>
    <message>
        <source>Choose a line or zone in the list to see its counts over time.</source>
        <translation>Wählen Sie eine Linie oder Zone der Liste, um ihren Verlauf zu sehen.</translation>
    </message>
    <message>
        <source>&apos;{name}&apos; is deleted.</source>
        <translation>„{name}“ ist gelöscht.</translation>
    </message>
    <message>
        <source>&apos;{name}&apos; is selected: arrow keys move it, Enter chooses a point of it, Delete removes it.</source>
        <translation>„{name}“ ist gewählt: Pfeiltasten verschieben es, Enter wählt einen Punkt, Entf löscht es.</translation>
    </message>
    <message>
        <source>All videos in {folder}</source>
        <translation>Alle Videos in {folder}</translation>
    </message>
    <message>
        <source>Arrow keys move the cross hair, with Shift farther; Enter sets a point; Backspace removes it; Esc stops. It is at {x}, {y}.</source>
        <translation>Pfeiltasten bewegen das Fadenkreuz, mit Umschalt weiter; Enter setzt einen Punkt; Rücktaste entfernt ihn; Esc beendet. Es steht bei {x}, {y}.</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>Automatisch</translation>
    </message>
    <message>
        <source>Backward</source>
        <translation>Rückwärts</translation>
    </message>
    <message>
        <source>Boxes</source>
        <translation>Rahmen</translation>
    </message>
    <message>
        <source>Classes of &apos;{name}&apos;</source>
        <translation>Klassen von „{name}“</translation>
    </message>
    <message>
        <source>Classes that count</source>
        <translation>Klassen, die zählen</translation>
    </message>
    <message>
        <source>Click its corners, then the first one again, or use the arrow keys and Enter; Esc stops</source>
        <translation>Klicken Sie auf die Ecken, dann wieder auf die erste, oder verwenden Sie Pfeiltasten und Enter; Esc beendet</translation>
    </message>
    <message>
        <source>Click the first corner of the zone, or press an arrow key to draw with the keyboard.</source>
        <translation>Klicken Sie auf die erste Ecke der Zone, oder zeichnen Sie mit den Pfeiltasten.</translation>
    </message>
    <message>
        <source>Click the next corner, or the first one again to complete the zone.</source>
        <translation>Klicken Sie auf die nächste Ecke, oder noch einmal auf die erste, um die Zone abzuschließen.</translation>
    </message>
    <message>
        <source>Click the next corner. Backspace removes the last one, Esc stops.</source>
        <translation>Klicken Sie auf die nächste Ecke. Die Rücktaste entfernt die letzte, Esc beendet.</translation>
    </message>
    <message>
        <source>Crossings against the direction of the arrow at the line</source>
        <translation>Überquerungen gegen die Richtung des Pfeils an der Linie</translation>
    </message>
    <message>
        <source>Crossings in the direction of the arrow at the line</source>
        <translation>Überquerungen in Richtung des Pfeils an der Linie</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>Delete &apos;{name}&apos;</source>
        <translation>„{name}“ löschen</translation>
    </message>
    <message>
        <source>Double-click to edit</source>
        <translation>Zum Bearbeiten doppelklicken</translation>
    </message>
    <message>
        <source>Drag from where it begins to where it ends, or use the arrow keys and Enter</source>
        <translation>Vom Anfang zum Ende ziehen, oder Pfeiltasten und Eingabetaste verwenden</translation>
    </message>
    <message>
        <source>Drag or click to where the line ends. Esc stops.</source>
        <translation>Dorthin ziehen oder klicken, wo die Linie endet. Esc bricht ab.</translation>
    </message>
    <message>
        <source>Draw &apos;{name}&apos;</source>
        <translation>„{name}“ zeichnen</translation>
    </message>
    <message>
        <source>Draw line</source>
        <translation>Linie</translation>
    </message>
    <message>
        <source>Draw zone</source>
        <translation>Zone</translation>
    </message>
    <message>
        <source>Export lines and zones</source>
        <translation>Linien und Zonen exportieren</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>Exportieren …</translation>
    </message>
    <message>
        <source>File</source>
        <translation>Datei</translation>
    </message>
    <message>
        <source>Files of the queue</source>
        <translation>Dateien der Liste</translation>
    </message>
    <message>
        <source>Forward</source>
        <translation>Vorwärts</translation>
    </message>
    <message>
        <source>Give them to other videos, export or import them</source>
        <translation>An andere Videos geben, exportieren oder importieren</translation>
    </message>
    <message>
        <source>Heat map</source>
        <translation>Heatmap</translation>
    </message>
    <message>
        <source>Import lines and zones</source>
        <translation>Linien und Zonen importieren</translation>
    </message>
    <message>
        <source>Import…</source>
        <translation>Importieren …</translation>
    </message>
    <message>
        <source>Labels</source>
        <translation>Labels</translation>
    </message>
    <message>
        <source>Length of a bar</source>
        <translation>Länge eines Balkens</translation>
    </message>
    <message>
        <source>Line</source>
        <translation>Linie</translation>
    </message>
    <message>
        <source>Lines and zones</source>
        <translation>Linien und Zonen</translation>
    </message>
    <message>
        <source>Lines and zones (*.json)</source>
        <translation>Linien und Zonen (*.json)</translation>
    </message>
    <message>
        <source>Lines and zones count tracked objects, and these results have no tracks.</source>
        <translation>Linien und Zonen zählen Spuren, und diese Ergebnisse haben keine.</translation>
    </message>
    <message>
        <source>Lines and zones over the video</source>
        <translation>Linien und Zonen über dem Video</translation>
    </message>
    <message>
        <source>Mean time</source>
        <translation>Dauer (Mittel)</translation>
    </message>
    <message>
        <source>More</source>
        <translation>Mehr</translation>
    </message>
    <message>
        <source>Move &apos;{name}&apos;</source>
        <translation>„{name}“ verschieben</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>Name, such as that of the camera:</source>
        <translation>Name, etwa der der Kamera:</translation>
    </message>
    <message>
        <source>New lines and zones…</source>
        <translation>Neue Linien und Zonen …</translation>
    </message>
    <message>
        <source>New set of lines and zones</source>
        <translation>Neues Set von Linien und Zonen</translation>
    </message>
    <message>
        <source>No lines and zones</source>
        <translation>Keine Linien und Zonen</translation>
    </message>
    <message>
        <source>No object could be tracked: {reason}</source>
        <translation>Kein Objekt ließ sich verfolgen: {reason}</translation>
    </message>
    <message>
        <source>Nothing was detected, so there is nothing to count.</source>
        <translation>Nichts wurde erkannt, also gibt es nichts zu zählen.</translation>
    </message>
    <message>
        <source>Numbers of tracks</source>
        <translation>Nummern</translation>
    </message>
    <message>
        <source>Point {count} is at {x}, {y}.</source>
        <translation>Punkt {count} liegt bei {x}, {y}.</translation>
    </message>
    <message>
        <source>Point {count} is at {x}, {y}. Enter here again, or on the first point, completes the zone.</source>
        <translation>Punkt {count} liegt bei {x}, {y}. Enter hier noch einmal oder auf dem ersten Punkt schließt die Zone ab.</translation>
    </message>
    <message>
        <source>Point {count} of &apos;{name}&apos; is at {x}, {y}: arrow keys move it, Backspace removes it, Insert adds one.</source>
        <translation>Punkt {count} von „{name}“ liegt bei {x}, {y}: Pfeiltasten verschieben ihn, Rücktaste entfernt ihn, Einfg fügt einen ein.</translation>
    </message>
    <message>
        <source>Point {count} of &apos;{name}&apos; is at {x}, {y}: arrow keys move it.</source>
        <translation>Punkt {count} von „{name}“ liegt bei {x}, {y}: Pfeiltasten verschieben ihn.</translation>
    </message>
    <message>
        <source>Press where the line begins and drag to its end, or press an arrow key to draw with the keyboard.</source>
        <translation>Am Anfang der Linie drücken und zum Ende ziehen, oder eine Pfeiltaste drücken, um mit der Tastatur zu zeichnen.</translation>
    </message>
    <message>
        <source>Rename &apos;{name}&apos;</source>
        <translation>„{name}“ umbenennen</translation>
    </message>
    <message>
        <source>Search classes</source>
        <translation>Klassen suchen</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>Anzeigen</translation>
    </message>
    <message>
        <source>Swap the directions of &apos;{name}&apos;</source>
        <translation>Die Richtungen von „{name}“ tauschen</translation>
    </message>
    <message>
        <source>The last point is removed.</source>
        <translation>Der letzte Punkt ist entfernt.</translation>
    </message>
    <message>
        <source>The lines and zones of {name} wait for the next video that can be shown.</source>
        <translation>Die Linien und Zonen von {name} warten auf das nächste Video, das gezeigt werden kann.</translation>
    </message>
    <message numerus="yes">
        <source>The sum of %Ln files.</source>
        <translation>
            <numerusform>Die Summe von %Ln Datei.</numerusform>
            <numerusform>Die Summe von %Ln Dateien.</numerusform>
        </translation>
    </message>
    <message>
        <source>This video only</source>
        <translation>Nur dieses Video</translation>
    </message>
    <message>
        <source>Tracking the objects…</source>
        <translation>Objekte werden verfolgt …</translation>
    </message>
    <message>
        <source>What is drawn over the picture</source>
        <translation>Was über dem Bild gezeichnet wird</translation>
    </message>
    <message>
        <source>What the table counts; the counts over the video go up to the shown frame</source>
        <translation>Was die Tabelle zählt; die Zahlen über dem Video gelten bis zum gezeigten Bild</translation>
    </message>
    <message>
        <source>car, bus; empty: all</source>
        <translation>car, bus; leer: alle</translation>
    </message>
    <message>
        <source>{name}   {inside} inside · {total} until now</source>
        <translation>{name}   {inside} darin · bisher {total}</translation>
    </message>
    <message>
        <source>{name}: crossings in {interval}, forward upwards, backward downwards</source>
        <translation>{name}: Überquerungen in {interval}, vorwärts nach oben, rückwärts nach unten</translation>
    </message>
    <message>
        <source>{name}: objects inside</source>
        <translation>{name}: Objekte darin</translation>
    </message>
    <message>
        <source>Point that counts</source>
        <translation>Punkt, der zählt</translation>
    </message>
    <message>
        <source>All files with these lines</source>
        <translation>Alle Dateien mit diesen Linien</translation>
    </message>
    <message>
        <source>Delete these lines and zones</source>
        <translation>Diese Linien und Zonen löschen</translation>
    </message>
    <message>
        <source>Files with the lines and zones of &apos;{name}&apos;</source>
        <translation>Dateien mit den Linien und Zonen von „{name}“</translation>
    </message>
    <message>
        <source>If all files of a folder are checked, files that you add from this folder later get these lines and zones, too.</source>
        <translation>Sind alle Dateien eines Ordners angehakt, bekommen auch später hinzugefügte Dateien dieses Ordners diese Linien und Zonen.</translation>
    </message>
    <message>
        <source>Lines and zones now</source>
        <translation>Linien und Zonen jetzt</translation>
    </message>
    <message>
        <source>Number the objects in the stored results, without detecting again</source>
        <translation>Nummeriert die Objekte in den gespeicherten Ergebnissen, ohne neu zu erkennen</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>Wiederholen</translation>
    </message>
    <message>
        <source>Set of lines and zones</source>
        <translation>Set von Linien und Zonen</translation>
    </message>
    <message>
        <source>Swap the directions of the line</source>
        <translation>Die Richtungen der Linie tauschen</translation>
    </message>
    <message>
        <source>The lines and zones of this video. They stay with it until you give them to other videos.</source>
        <translation>Die Linien und Zonen dieses Videos. Sie bleiben bei ihm, bis Sie sie an andere Videos geben.</translation>
    </message>
    <message>
        <source>Top of the box</source>
        <translation>Oberkante des Rahmens</translation>
    </message>
    <message>
        <source>Track the objects</source>
        <translation>Objekte verfolgen</translation>
    </message>
    <message>
        <source>Tracks on the timeline instead of classes</source>
        <translation>Spuren statt Klassen auf der Zeitleiste</translation>
    </message>
    <message>
        <source>Trails</source>
        <translation>Bahnen</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>Use for all videos of this folder</source>
        <translation>Für alle Videos dieses Ordners verwenden</translation>
    </message>
    <message>
        <source>Use for other videos…</source>
        <translation>Für andere Videos verwenden …</translation>
    </message>
    <message>
        <source>Visits</source>
        <translation>Aufenthalte</translation>
    </message>
    <message>
        <source>What the table counts</source>
        <translation>Was die Tabelle zählt</translation>
    </message>
    <message>
        <source>Whole file</source>
        <translation>Ganze Datei</translation>
    </message>
    <message>
        <source>Without tracks or of another shape: {names}.</source>
        <translation>Ohne Spuren oder mit anderer Form: {names}.</translation>
    </message>
    <message>
        <source>Zone</source>
        <translation>Zone</translation>
    </message>
    <message>
        <source>Zones count the objects of each picture; lines count tracked objects of videos only.</source>
        <translation>Zonen zählen die Objekte jedes Einzelbilds; Linien zählen nur die Spuren in Videos.</translation>
    </message>
    <message>
        <source>cannot write {path}: {strerror}</source>
        <translation>{path} kann nicht geschrieben werden: {strerror}</translation>
    </message>
    <message>
        <source>{mean} s</source>
        <translation>{mean} s</translation>
    </message>
    <message>
        <source>{x}, {y}</source>
        <translation>{x}, {y}</translation>
    </message>
</context>
</TS>
