# EVs 0 and 2 lead over the same links, and so do 1 and 3: one path each. Of a path one EV is in the
# rotation. A loss retires both EVs of a path, and the proof of one brings both back.
# REQ(req.ev.same-path) REQ(req.ev.one-loss) REQ(req.ev.revive)
config evs 4 paths 2 gap 6us revive_probes 1 probe_interval 100us probe_interval_max 100us

post write 4096 bytes id 1
> WRITE FIRST psn 100 ev A
+6us > WRITE MIDDLE psn 101 ev B
+6us > WRITE MIDDLE psn 102 ev A,B
ignore PROBE
< SACK cack 99 map 0b110 trigger 102
+6us > WRITE FIRST psn 100 rtx ev B
expect info evs_bad 2
expect info evs_good 2
+6us > WRITE LAST psn 103 ev B
ignore nothing
< SACK cack 103 trigger 103
< ACK msn 1
expect completion id 1 success
+50us..100us > PROBE probe P
> PROBE
+10us < SACK cack 103 probe P
expect info evs_good 4
