# ASSUMED_BAD -> GOOD: after probe_interval a probe goes out on the EV, and when revive_probes (3) in a
# row were answered it is used again.
# REQ(req.ev.revive) REQ(req.ev.events) REQ(req.probe.match)
config evs 4 revive_probes 3 probe_interval 100us probe_interval_max 800us

post write 8 bytes id 1
> WRITE ONLY psn 100 ev A
< SACK cack 100 mark always_skip
< ACK msn 1
expect completion id 1 success
expect event ev A ASSUMED_BAD by mark
+100us > PROBE ev A probe P
+10us < SACK cack 100 probe P
+100us > PROBE ev A probe Q
+10us < SACK cack 100 probe Q
expect ev A ASSUMED_BAD
+100us > PROBE ev A probe R
+10us < SACK cack 100 probe R
expect ev A GOOD
expect event ev A GOOD by probe
expect nothing for 10ms
