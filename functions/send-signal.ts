import { pageParameters } from '../lib/contract/parameters/lists.ts'
import { signalHeaders } from '../lib/contract/parameters/runs.ts'
import type { Signal } from '../lib/core/wait.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { listSignals, type SentSignal, sendCallback, sendSignal } from '../lib/engine/waiting/send-signal.ts'
import { endpoint, family, type Request } from '../lib/http/endpoint.ts'
import { toPageResponse } from '../lib/http/responses.ts'
import { openRunQueue } from '../lib/sqs/run-queue.ts'
import { system } from '../lib/system.ts'

const { executions, rates, signals, steps } = openStores()
const stores = { executions, signals, steps, system, queue: openRunQueue() }

const toSignal = ({ body: data, headers, ...request }: Request<'send-callback' | 'send-signal'>) => ({
  ...request,
  data,
  idempotencyKey: headers['Idempotency-Key'],
})

const accepted = (body: SentSignal) => ({ status: 202, body })

const send = async (request: Request<'send-signal'>) => accepted(await sendSignal(stores, toSignal(request)))

const callBack = async (request: Request<'send-callback'>) =>
  accepted(await sendCallback(stores, toSignal(request)))

const toRecord = ({ id, name, data, receivedAt }: Signal) => ({ id, name, data, receivedAt })

const list = async (request: Request<'list-signals'>) =>
  toPageResponse(await listSignals(stores, request, request.query), toRecord, request)

export const handler = family({
  'send-signal': endpoint('send-signal', send, { rates, headers: signalHeaders }),
  'list-signals': endpoint('list-signals', list, { rates, query: pageParameters }),
  'send-callback': endpoint('send-callback', callBack, { headers: signalHeaders }),
})
