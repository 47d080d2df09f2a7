# ASSUMED_BAD -> SKIP: the probe that completes the row was answered with a mark: the EV is back, and
# is skipped in its first round. REQ(req.ev.revive-marked)
config evs 2 revive_probes 1 probe_interval 100us

post write 8 bytes id 1
> WRITE ONLY psn 100 ev A
< SACK cack 100 mark always_skip
< ACK msn 1
expect completion id 1 success
+100us > PROBE ev A probe P
+10us < SACK cack 100 probe P mark skip_once
expect ev A SKIP
post write 8 bytes id 2..4
> WRITE ONLY psn 101..102 ev !A
> WRITE ONLY psn 103
expect ev A GOOD
< ACK msn 4
expect completion id 2..4 success
