# All that is heard of the peer is the answer to a probe of a bad EV each 200us, and each answer ends a
# silence. The first is waited for: the planes in use are probed. They have said nothing when the
# next one comes, so that it decides. REQ(req.ev.endpoint) REQ(req.loss.explicit)
config planes 3 evs 3 gap 2us revive_probes 9 probe_interval 200us probe_interval_max 200us

post write 8 bytes id 1
> WRITE ONLY psn 100 ev A
+1us < SACK cack 100 mark always_skip
< ACK msn 1
expect completion id 1 success
post write 8 bytes id 2..3
+1us > WRITE ONLY psn 101 ev !A
+2us > WRITE ONLY psn 102 ev !A
+197us > PROBE ev A probe P
+1us < SACK cack 100 probe P
> PROBE ev !A
> PROBE ev !A
expect nothing for 199us
+1us > PROBE ev A probe Q
+1us < SACK cack 100 probe Q
ignore PROBE
> WRITE ONLY psn 101 rtx
+2us > WRITE ONLY psn 102 rtx
+1us < SACK cack 102
< ACK msn 3
expect completion id 2..3 success
