# The NAK is lost. The requester goes on asking, and hears it again: a timeout sends the packet once
# more, the second NAK arrives. REQ(req.error.nak) REQ(req.loss.timeout)
config evs 8 timeout 8

post write 8 bytes id 1..2
> WRITE ONLY psn 100..101
+262.144us > WRITE ONLY psn 100 rtx
+5us < ACK msn 0 nak remote_access
< ACK msn 0 nak remote_access                        # and once more: nothing left to fail
expect completion id 1 remote_access
expect completion id 2 flushed
expect qp_error remote_access
expect nothing for 1s
