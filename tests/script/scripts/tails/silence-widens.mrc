# Nobody answers. Probes go out after 50us, after twice as long, and four times as long, on more paths
# each time: 1, 2, 4. No EV is judged by silence.
# REQ(req.probe.tail) REQ(req.ev.forward-evidence)
config evs 8 tail_probe 50us timeout 10

post write 100 bytes id 1
> WRITE ONLY psn 100
+50us > PROBE
+100us > PROBE
> PROBE
+200us > PROBE
> PROBE
> PROBE
> PROBE
expect info evs_good 8
expect nothing for 500us
