# Where it was not agreed, the offer stays what it was, and what a SACK offers is not followed.
# REQ(req.mpr.dynamic) REQ(rsp.mpr.dynamic)
config dynamic_mpr off mpr 2 mpr_dest 8

capacity 512
overflow 1
< WRITE ONLY psn 100 len 4 ackreq
> SACK mpr 8
> ACK msn 1
post write 0 bytes id 1..600
> WRITE ONLY psn 100..355
< SACK cack 355 mpr 1
> WRITE ONLY psn 356..611
< SACK cack 611 mpr 200
> WRITE ONLY psn 612..699
< ACK msn 600
expect completion id 1..600 success
