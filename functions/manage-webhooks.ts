import { webhookBody, webhookChanges } from '../lib/contract/bodies/webhooks.ts'
import { pageParameters } from '../lib/contract/parameters/lists.ts'
import { toBatchRecord } from '../lib/contract/records/batch.ts'
import { toExecutionRecord, toExecutionSummary } from '../lib/contract/records/execution.ts'
import { toDeliveryRecord, toWebhookRecord } from '../lib/contract/records/webhook.ts'
import { InputSchemaMismatch } from '../lib/core/request-errors.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { openDeliveryEngine } from '../lib/engine/notifications/open-delivery-engine.ts'
import {
  listDeliveries,
  redeliverEvent,
  testWebhook,
} from '../lib/engine/notifications/webhook-deliveries.ts'
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  rotateSecret,
  updateWebhook,
} from '../lib/engine/notifications/webhooks.ts'
import { readSetting } from '../lib/environment.ts'
import { auditRequests } from '../lib/http/audit-requests.ts'
import { endpoint, family, type Request } from '../lib/http/endpoint.ts'
import { checkMembers } from '../lib/http/json-body.ts'
import { toPageResponse } from '../lib/http/responses.ts'
import { system } from '../lib/system.ts'

const { rates, ...opened } = openStores()
const audit = auditRequests(opened.audit)
const stores = { ...opened, system }
/** What is requested is attempted once. */
const queue = { send: async () => undefined }
/** For one request: it knows the webhooks and secrets of now. */
const openEngine = () =>
  openDeliveryEngine({
    ...stores,
    queue,
    toRecord: toExecutionRecord,
    toSummary: toExecutionSummary,
    toBatchRecord,
  })
const retentionDays = readSetting('executionRetentionDays')
const rules = { kind: 'field of a webhook', Mismatch: InputSchemaMismatch }

async function list({ access }: Request<'list-webhooks'>) {
  return { status: 200, body: (await listWebhooks(stores, access)).map(toWebhookRecord) }
}

async function create({ access, basePath, note, ...request }: Request<'create-webhook'>) {
  const body = checkMembers(webhookBody, request.body, rules)
  const { webhook, secret } = await createWebhook(stores, { access, body, retentionDays })
  note({ target: { id: webhook.id } })
  const headers = { Location: `${basePath}/v1/webhooks/${webhook.id}` }
  return { status: 201, headers, body: { ...toWebhookRecord(webhook), secret } }
}

async function get(request: Request<'get-webhook'>) {
  return { status: 200, body: toWebhookRecord(await getWebhook(stores, request)) }
}

async function update({ access, webhookId, ...request }: Request<'update-webhook'>) {
  const body = checkMembers(webhookChanges, request.body, rules)
  return { status: 200, body: toWebhookRecord(await updateWebhook(stores, { access, webhookId, body })) }
}

async function remove(request: Request<'delete-webhook'>) {
  await deleteWebhook(stores, request)
  return { status: 204 }
}

const rotate = async (request: Request<'rotate-webhook'>) => ({
  status: 200,
  body: await rotateSecret(stores, request),
})

async function deliveries(request: Request<'list-deliveries'>) {
  const { access, webhookId, query: page } = request
  return toPageResponse(await listDeliveries(stores, { access, webhookId, page }), toDeliveryRecord, request)
}

async function redeliver({ access, webhookId, deliveryId, note }: Request<'redeliver'>) {
  note({ deliveryId })
  const delivery = await redeliverEvent(openEngine(), { access, webhookId, deliveryId })
  return { status: 200, body: toDeliveryRecord(delivery) }
}

async function test(request: Request<'test-webhook'>) {
  const { ok, responseStatus, error } = await testWebhook(openEngine(), request)
  return { status: 200, body: { delivered: ok, responseStatus, error } }
}

export const handler = family({
  'list-webhooks': endpoint('list-webhooks', list, { rates }),
  'create-webhook': endpoint('create-webhook', create, { rates, audit }),
  'get-webhook': endpoint('get-webhook', get, { rates }),
  'update-webhook': endpoint('update-webhook', update, { rates, audit }),
  'delete-webhook': endpoint('delete-webhook', remove, { rates, audit }),
  'rotate-webhook': endpoint('rotate-webhook', rotate, { rates, audit }),
  'list-deliveries': endpoint('list-deliveries', deliveries, { rates, query: pageParameters }),
  redeliver: endpoint('redeliver', redeliver, { rates, audit }),
  'test-webhook': endpoint('test-webhook', test, { rates, audit }),
})
