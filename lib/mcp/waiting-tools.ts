import * as z from 'zod'
import { signalHeaders } from '../api/parameters.ts'
import type { Json } from '../core/json/json.ts'
import { sendSignal } from '../engine/waiting/send-signal.ts'
import { EXECUTION_ID, serviceTool } from './service-tool.ts'
import { toResult, toToolError } from './tool-call.ts'

export const SEND_SIGNAL = serviceTool({
  name: 'send_signal',
  title: 'Send a signal',
  description:
    'Sends data to a run that waits for a signal of this name, or will. waitingFor of the execution has the names.',
  input: z.strictObject({
    executionId: EXECUTION_ID,
    name: z.string().describe('The name of the signal.'),
    data: z.unknown().describe('Any JSON, up to 256 kB.'),
    idempotencyKey: z.string().optional().describe('Calls with the same key, name and data send one signal.'),
  }),
  output: z.object({ executionId: z.string(), id: z.string().describe('The ID of the signal.') }),
  annotations: { readOnlyHint: false, openWorldHint: false },
  scope: 'run',
  async run(engine, { access }, { executionId, name, data, idempotencyKey }) {
    const { error } = signalHeaders.shape['Idempotency-Key'].safeParse(idempotencyKey)
    if (error) return toToolError(`idempotencyKey ${error.issues[0]?.message}.`)
    return toResult(
      await sendSignal(engine, { access, executionId, name, data: (data ?? null) as Json, idempotencyKey }),
    )
  },
})
