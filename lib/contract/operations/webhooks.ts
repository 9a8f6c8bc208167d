import { BODY_ERRORS, listOf, managing, type Operation, reading } from './operation.ts'

/** Webhooks receive the events of all tenants. */
const webhook = { family: 'manage-webhooks', allTenants: true } as const
const webhookResponse = { 200: { description: 'The webhook', body: 'Webhook' } } as const
const deliveryResponse = {
  200: { description: 'The delivery, after one attempt', body: 'Delivery' },
} as const

export const webhookOperations = {
  'list-webhooks': {
    ...webhook,
    ...reading,
    path: '/v1/webhooks',
    summary: 'List the webhooks of the organization',
    responses: listOf('Webhooks', 'Webhook'),
  },
  'create-webhook': {
    ...managing,
    ...webhook,
    path: '/v1/webhooks',
    audit: 'webhook.create',
    summary: 'Create a webhook, which receives events of executions',
    body: 'WebhookBody',
    responses: {
      201: { description: 'The webhook with its secret, which is not shown again', body: 'CreatedWebhook' },
    },
    errors: ['BadRequest', ...BODY_ERRORS, 'TooManyWebhooks', 'InputSchemaMismatch'],
  },
  'get-webhook': {
    ...webhook,
    ...reading,
    path: '/v1/webhooks/{webhookId}',
    summary: 'Get a webhook',
    responses: webhookResponse,
    errors: ['WebhookNotFound'],
  },
  'update-webhook': {
    ...managing,
    ...webhook,
    method: 'PATCH',
    path: '/v1/webhooks/{webhookId}',
    audit: 'webhook.update',
    summary: 'Change fields of a webhook',
    body: 'WebhookChanges',
    responses: webhookResponse,
    errors: [...BODY_ERRORS, 'WebhookNotFound', 'InputSchemaMismatch'],
  },
  'delete-webhook': {
    ...managing,
    ...webhook,
    method: 'DELETE',
    path: '/v1/webhooks/{webhookId}',
    audit: 'webhook.delete',
    summary: 'Delete a webhook and its secrets',
    responses: { 204: { description: 'Deleted', body: null } },
    errors: ['WebhookNotFound'],
  },
  'rotate-webhook': {
    ...managing,
    ...webhook,
    path: '/v1/webhooks/{webhookId}/rotate',
    audit: 'webhook.rotate',
    summary: 'Replace the secret of a webhook, or of the URLs that are given with runs (`default`)',
    responses: {
      200: { description: 'The new secret, which is not shown again', body: 'RotatedSecret' },
    },
    errors: ['WebhookNotFound'],
  },
  'test-webhook': {
    ...managing,
    ...webhook,
    path: '/v1/webhooks/{webhookId}/test',
    audit: 'webhook.test',
    summary: 'Send a test event to a webhook',
    responses: { 200: { description: 'What the receiver answered', body: 'TestResult' } },
    errors: ['WebhookNotFound'],
  },
  'list-deliveries': {
    ...webhook,
    ...reading,
    path: '/v1/webhooks/{webhookId}/deliveries',
    summary:
      'List the deliveries of events to a webhook, or to the URLs that are given with runs (`default`)',
    query: 'pageParameters',
    responses: listOf('Deliveries', 'Delivery'),
    errors: ['WebhookNotFound'],
  },
  redeliver: {
    ...managing,
    ...webhook,
    path: '/v1/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver',
    audit: 'webhook.redeliver',
    summary: 'Send an event to a webhook again',
    responses: deliveryResponse,
    errors: ['WebhookNotFound', 'DeliveryNotFound'],
  },
} as const satisfies Record<string, Operation>
