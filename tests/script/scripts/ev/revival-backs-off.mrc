# A probe that is not answered breaks the row and doubles the interval, up to probe_interval_max; an
# answer brings the interval back to what it was.
# REQ(req.ev.revive)
config evs 4 revive_probes 2 probe_interval 100us probe_interval_max 400us

post write 8 bytes id 1
> WRITE ONLY psn 100 ev A
< SACK cack 100 mark always_skip
< ACK msn 1
expect completion id 1 success
+100us > PROBE ev A probe P
+10us < SACK cack 100 probe P                # one in a row
+100us > PROBE ev A                          # lost
+100us > PROBE ev A                          # lost: the interval doubles
+200us > PROBE ev A
+400us > PROBE ev A
+400us > PROBE ev A probe Q
+10us < SACK cack 100 probe Q                # one in a row, not two
expect ev A ASSUMED_BAD
+100us > PROBE ev A probe R
+10us < SACK cack 100 probe R
expect ev A GOOD
