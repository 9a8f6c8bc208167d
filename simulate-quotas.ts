import { ACCOUNTS, simulateWaiting, WAITING_SCENARIOS } from '/tmp/wt/aws/bench/keys/waiting.ts'
for (const a of ACCOUNTS.slice(0, Number(process.argv[2] ?? 3))) for (const s of WAITING_SCENARIOS) {
  const t = Date.now()
  const w = await simulateWaiting(s, false, a), l = await simulateWaiting(s, true, a)
  console.log(a.quota, s.name, w.refused.toFixed(3), l.refused.toFixed(3), l.refusedLater.toFixed(3), l.occupied.toFixed(2), Date.now() - t, 'ms')
}
