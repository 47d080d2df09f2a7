# All EVs of plane 1 go bad: the plane is left, everything goes over plane 0. When probes bring one of
# its EVs back the plane carries its share again.
# REQ(ep.port.survive) REQ(ep.port.return) REQ(req.spray.equal-planes)
config planes 2 evs 4 revive_probes 1 probe_interval 100us probe_interval_max 100us

room 1
post write 8 bytes id 1..2
> WRITE ONLY psn 100 plane 1 ev A
> WRITE ONLY psn 101 plane 1 ev B
room all
< SACK cack 100 trigger 100 mark always_skip
< SACK cack 101 trigger 101 mark always_skip
< ACK msn 2
expect completion id 1..2 success
post write 8 bytes id 3..6
> WRITE ONLY psn 102..105 plane 0
< ACK msn 6
expect completion id 3..6 success
+100us > PROBE plane 1 probe P
> PROBE plane 1
+10us < SACK cack 105 probe P
post write 8 bytes id 7..10
> WRITE ONLY psn 106 plane 0,1
> WRITE ONLY psn 107 plane 0,1
> WRITE ONLY psn 108 plane 0,1
> WRITE ONLY psn 109 plane 0,1
< ACK msn 10
expect completion id 7..10 success
