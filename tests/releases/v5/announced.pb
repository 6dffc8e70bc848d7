
w1w1-first127.0.0.1:1"
cpu:0cpu"
cpu:1cpu"
cpu:2cpu"
cpu:3cpu"
cpu:4cpu"
cpu:5cpu"
cpu:6cpu"
cpu:7cpu"
cpu:8cpu"
cpu:9cpu"
cpu:10cpu"
cpu:11cpu"
cpu:12cpu"
cpu:13cpu"
cpu:14cpu"
cpu:15cpu"
cpu:16cpu"
cpu:17cpu"
cpu:18cpu"
cpu:19cpu"
cpu:20cpu"
cpu:21cpu"
cpu:22cpu"
cpu:23cpu"
cpu:24cpu"
cpu:25cpu"
cpu:26cpu"
cpu:27cpu"
cpu:28cpu"
cpu:29cpu"
cpu:30cpu"
cpu:31cpu"
cpu:32cpu"
cpu:33cpu"
cpu:34cpu"
cpu:35cpu"
cpu:36cpu"
cpu:37cpu"
cpu:38cpu"
cpu:39cpu"
cpu:40cpu"
cpu:41cpu"
cpu:42cpu"
cpu:43cpu"
cpu:44cpu"
cpu:45cpu"
cpu:46cpu"
cpu:47cpu*
zonenorth2buildBˆè
job-05‚cpu:128
job-06 0	:killed after its grace period‚cpu:13P
job-07BŠâÏªJŠâÏªR ZdrŠâÏª
4-1"
manifest-4‚cpu:14
job-15‚cpu:2
job-16‚cpu:205
job-17 BŠâÏªJŠâÏªR Zdjd‚cpu:21
job-25‚cpu:26
job-26‚cpu:27/
job-27BŠâÏªR b
addition 	‚cpu:28
job-35‚cpu:33
job-36‚cpu:34*
job-37 :no more processes‚cpu:35
job-45‚cpu:40
job-46‚cpu:41
job-47‚cpu:42H