# A receiver whose buffer ran over loses a burst, many packets of each EV sent close together. To an EV that
# is one loss, however many packets it was, and a peer that says it throws packets away is no fault of paths.
# REQ(req.ev.overloaded)
config evs 2 gap 1us

post write 40960 bytes id 1
> WRITE FIRST psn 100
+1us > WRITE MIDDLE psn 101..138
+1us > WRITE LAST psn 139
ignore PROBE
< SACK cack 100 map 0x7F_8000_0000 trigger 139 pen 64    # 132 to 139 are here
+1us > WRITE MIDDLE psn 101..103 rtx                     # and then the penalty holds back
expect no_event
expect ev 0 GOOD
expect ev 1 GOOD
< SACK cack 139 trigger 103
< ACK msn 1
expect completion id 1 success
