import { type ScheduleBody, scheduleBody } from '../lib/contract/bodies/schedules.ts'
import { pageParameters } from '../lib/contract/parameters/lists.ts'
import { idempotencyHeaders } from '../lib/contract/parameters/runs.ts'
import { toScheduleRecord } from '../lib/contract/records/schedule.ts'
import type { JsonObject } from '../lib/core/json/json.ts'
import type { ExecutionStore } from '../lib/core/ports/executions.ts'
import { InputSchemaMismatch } from '../lib/core/request-errors.ts'
import { CATCH_UP_SECONDS, type Schedule } from '../lib/core/schedule.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { withMetricsAndOutbox } from '../lib/engine/notifications/metrics-and-outbox.ts'
import { nextRunsOf, type ScheduleDefinition } from '../lib/engine/schedules/define-schedule.ts'
import { deleteSchedule, getSchedule, listSchedules, putSchedule } from '../lib/engine/schedules/schedules.ts'
import { runSchedule } from '../lib/engine/schedules/start-firing.ts'
import { openSubmitEngine } from '../lib/engine/submit/accept.ts'
import { auditRequests } from '../lib/http/audit-requests.ts'
import { endpoint, family, type Request } from '../lib/http/endpoint.ts'
import { checkMembers } from '../lib/http/json-body.ts'
import { toAcceptedResponse, toPageResponse } from '../lib/http/responses.ts'
import { openDeliveryQueue } from '../lib/sqs/delivery-queue.ts'
import { openRunQueue } from '../lib/sqs/run-queue.ts'
import { system } from '../lib/system.ts'

const opened = withMetricsAndOutbox(openStores(), { queue: openDeliveryQueue(), system })
const { rates } = opened
const audit = auditRequests(opened.audit)
const stores = { ...opened, queue: openRunQueue(), system }
const engine = { ...stores, ...openSubmitEngine(stores), queue: stores.queue }
const rules = { kind: 'field of a schedule', Mismatch: InputSchemaMismatch }

/** Times that a record shows. */
const NEXT_RUNS = 5
const toRecord = (schedule: Schedule) => toScheduleRecord(schedule, nextRunsOf(schedule, NEXT_RUNS))

/** @param input as it was sent: the schema copies it */
const toDefinition = (body: ScheduleBody, input: JsonObject): ScheduleDefinition => ({
  cron: body.cron,
  timezone: body.timezone ?? 'UTC',
  input,
  tenantId: body.tenantId ?? null,
  options: body.options ?? {},
  versionId: body.version?.toLowerCase() ?? null,
  enabled: body.enabled ?? true,
  overlap: body.overlap ?? 'skip',
  catchUpSeconds: body.catchUpSeconds ?? CATCH_UP_SECONDS.default,
})

const list = async (request: Request<'list-schedules'>) =>
  toPageResponse(await listSchedules(stores, request), toRecord, request)

const get = async (request: Request<'get-schedule'>) => ({
  status: 200,
  body: toRecord(await getSchedule(stores, request)),
})

async function put({ body, path, note, ...request }: Request<'put-schedule'>) {
  const { input = {} } = body
  const definition = toDefinition(checkMembers(scheduleBody, body, rules), input as JsonObject)
  const { schedule, isNew } = await putSchedule(stores, { ...request, definition })
  note({ isNew })
  const record = toRecord(schedule)
  return isNew ? { status: 201, headers: { Location: path }, body: record } : { status: 200, body: record }
}

async function remove(request: Request<'delete-schedule'>) {
  await deleteSchedule(stores, request)
  return { status: 204 }
}

async function run({ headers, basePath, begin, ...request }: Request<'run-schedule'>) {
  const idempotencyKey = headers['Idempotency-Key']
  const executions: ExecutionStore = {
    ...engine.executions,
    async create(params) {
      const { id } = params.execution
      await begin(id, { executionId: id })
      return engine.executions.create(params)
    },
  }
  const execution = await runSchedule({ ...engine, executions }, { ...request, idempotencyKey })
  return toAcceptedResponse(execution, basePath, request)
}

export const handler = family({
  'list-schedules': endpoint('list-schedules', list, { rates, query: pageParameters }),
  'put-schedule': endpoint('put-schedule', put, { rates, audit }),
  'get-schedule': endpoint('get-schedule', get, { rates }),
  'delete-schedule': endpoint('delete-schedule', remove, { rates, audit }),
  'run-schedule': endpoint('run-schedule', run, { rates, audit, headers: idempotencyHeaders }),
})
