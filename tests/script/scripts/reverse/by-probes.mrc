# Who only receives tests a random EV now and then while something arrives (32 times the floor of
# probes apart), of one plane after the other; the EV whose probe was answered carries the answers of
# its plane.
# REQ(req.reverse.probe) REQ(req.reverse.per-plane)
config planes 2 evs 16 tail_probe 50us sack_bytes 1000000

ignore ACK
< WRITE ONLY psn 100 msn 0 len 8 plane 0
expect nothing for 1ms
+700us < WRITE ONLY psn 101 msn 1 len 8 plane 0
> PROBE probe P ev A plane 0,1
+10us < SACK cack 99 probe P
+1690us < WRITE ONLY psn 102 msn 2 len 8 plane 0
> PROBE probe Q ev B plane 0,1
+10us < SACK cack 99 probe Q
ignore nothing
< WRITE ONLY psn 103 msn 3 len 8 ackreq plane 0
> SACK plane 0 over A,B
> ACK plane 0 ev A,B
< WRITE ONLY psn 104 msn 4 len 8 ackreq plane 1
> SACK plane 1 over A,B
> ACK plane 1 ev A,B
expect nothing for 1s                                    # nothing arrives, nothing is tested
