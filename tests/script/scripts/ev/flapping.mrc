# An EV that goes bad again right after it came back is probed at twice the interval: a flapping path
# returns only when it is stable. REQ(req.ev.flapping) REQ(req.ev.revive)
config evs 2 active 1 revive_probes 1 probe_interval 100us probe_interval_max 1ms

post write 8 bytes id 1
> WRITE ONLY psn 100 ev A
< SACK cack 100 mark always_skip
< ACK msn 1
expect completion id 1 success
+100us > PROBE ev A probe P
+10us < SACK cack 100 probe P
expect ev A GOOD
+10us < SACK cack 100 trigger 100 mark always_skip
expect ev A ASSUMED_BAD
expect nothing for 199us
+1us > PROBE ev A probe Q
+10us < SACK cack 100 probe Q
expect ev A GOOD
+10us < SACK cack 100 trigger 100 mark always_skip
+400us > PROBE ev A
