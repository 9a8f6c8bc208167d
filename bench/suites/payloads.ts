import { COMPRESS_PAYLOADS } from '../../lib/environment.ts'
import { cpuMsOf } from '../harness/process-tree.ts'
import { generateLoad, interleave, timed, toRatio, toSpread } from '../harness/rounds.ts'
import { publish, type Service, startService } from '../harness/service.ts'
import { PAYLOAD_SIZES, payloadOf } from '../keys/payloads.ts'
import { formatSpread, type Row, type SuiteContext, type SuiteResult } from '../report.ts'

const FULL = { rounds: 21, durationMs: 1_000, warmUpMs: 4_000 }
const QUICK = { rounds: 5, durationMs: 500, warmUpMs: 1_000 }
const CONCURRENCY = 4

const ECHO = {
  slug: 'echo',
  files: {
    'agent.md': `---
title: Echo
description: Returns its input.
code: true
input: { type: object }
output: { type: object }
---
`,
    'agent.ts': 'export default (input: object) => input\n',
  },
}

/** Processor time of synchronous runs by size of their payloads, on a service that compresses and one that does not. */
export async function payloads({ workspace, quick, log }: SuiteContext): Promise<SuiteResult> {
  const { rounds, durationMs, warmUpMs } = quick ? QUICK : FULL
  const open = async (environment: Record<string, string>) => {
    const service = await startService(workspace, { hasPort: true, environment })
    await publish(workspace, service.table, ECHO)
    return service
  }
  const services = { plain: await open({ [COMPRESS_PAYLOADS]: 'off' }), compressed: await open({}) }
  const contenders = (bytes: number, ms: number) =>
    Object.entries(services).map(([name, service]) => ({
      name: name as keyof typeof services,
      measure: () => measure(service, bytes, ms),
    }))

  log('warm-up')
  for (const bytes of PAYLOAD_SIZES) await interleave(contenders(bytes, warmUpMs), 1)
  const rows: Row[] = []
  const ratios = []
  for (const bytes of PAYLOAD_SIZES) {
    log(`${bytes} bytes, ${rounds} rounds`)
    const { plain, compressed } = await interleave(contenders(bytes, durationMs), rounds)
    const ratio = toRatio(compressed, plain)
    ratios.push(ratio)
    rows.push({
      bytes,
      'plain, ms': formatSpread(toSpread(plain)),
      'compressed, ms': formatSpread(toSpread(compressed)),
      ratio: formatSpread(ratio),
    })
  }
  const [, medium, large] = ratios
  return {
    figures: { ...(medium && { compression4: medium }), ...(large && { compression15: large }) },
    details: { title: 'Processor time of a synchronous run by size of its input and of its output', rows },
  }
}

/** Milliseconds of a run, of the Node processes of the service. */
async function measure(service: Service, bytes: number, durationMs: number): Promise<number> {
  const body = payloadOf(bytes)
  const operation = timed(() => service.request('POST', '/v1/agents/echo/executions', { status: 200, body }))
  const before = cpuMsOf(service.pid)
  const { latencies } = await generateLoad({ concurrency: CONCURRENCY, durationMs, operation })
  return (cpuMsOf(service.pid) - before) / latencies.length
}
