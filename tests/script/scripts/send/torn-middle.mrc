# A message of 3 packets in whose middle stands one that is for another receive: it is not whole.
# REQ(rsp.complete.whole)
config extended on sack_bytes 100000

< PROBE probe 1 ext 0x41
> SACK probe 1
post recv id 1..2 sge 5000 at 0
< SEND FIRST psn 100 msn 0 rqmsn 0 dmalen 3072 at 0
< SEND MIDDLE psn 101 msn 0 rqmsn 1 dmalen 3072 at 1024
< SEND LAST psn 102 msn 0 rqmsn 0 dmalen 3072 at 2048
> ACK msn 0 nak invalid_request
expect receive id 1..2 flushed
expect qp_error invalid_request by peer
