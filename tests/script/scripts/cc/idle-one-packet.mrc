# With nothing in flight one packet may always leave, however small the window.
# REQ(req.gate.cwnd) REQ(cc.nscc.floor)
config cc nscc link_gbps 100 base_rtt 10us max_cwnd 1 evs 4

post write 4096 bytes id 1
> WRITE FIRST psn 100
> WRITE MIDDLE psn 101 ackreq                        # the floor of the largest window is two packets
expect nothing
+10us < SACK cack 101
> WRITE MIDDLE psn 102
> WRITE LAST psn 103
< ACK msn 1
expect completion id 1 success
