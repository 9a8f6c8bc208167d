import type { Webhook, WebhookBody, WebhookChanges } from '../../clients/typescript/src/index.ts'
import { ID } from '../batches/shared-commands.ts'
import type { CliCommand } from '../command.ts'
import { UserError } from '../errors.ts'
import { formatCommand, labelled, relativeTime, textTable } from '../format.ts'
import { parseAgents, parseList, parseUrl } from '../options.ts'
import { addDeliveriesCommands } from './webhook-deliveries.ts'

/** Commands that manage webhooks. They go through the service, which knows what a token may see. */
export function addWebhooksCommand(program: CliCommand): void {
  const webhooks = program
    .command('webhooks')
    .description('Manage webhooks, which receive events of runs and batches.')
  webhooks
    .command('list')
    .description('List the webhooks of the organization, newest first, without their secrets.')
    .examples('webhooks list')
    .runWithService('read', 'list webhooks', async (client, options) => {
      const all = await client.webhooks()
      const empty = `There are no webhooks. Create one: ${formatCommand(options, 'webhooks create <url>')}`
      const rows = all.map((webhook) => [
        webhook.id,
        webhook.url,
        statusOf(webhook),
        webhook.types.join(', '),
      ])
      return { json: all, text: textTable(['WEBHOOK', 'URL', 'STATUS', 'TYPES'], rows, empty) }
    })
  addFieldOptions(
    webhooks
      .command('create')
      .description('Create a webhook. Its secret is shown only once.')
      .argument('<receiver>', 'where events are sent: an https address', parseUrl),
  )
    .option('--disable', 'send no events until it is enabled')
    .examples(
      'webhooks create https://shop.example/events',
      'webhooks create http://localhost:8080/ --allowed-hosts localhost:8080 --types execution.failed',
    )
    .runWithService<FieldOptions & { disable?: true }>(
      'manage',
      'create the webhook',
      async (client, options, [url = '']) => {
        const body: WebhookBody = { ...toFields(options), url, ...(options.disable && { enabled: false }) }
        const created = await client.createWebhook(body)
        const note = [
          `Created webhook ${created.id}. Its secret signs the events (Standard Webhooks).`,
          'Save it now: it is not shown again.',
          `Send a test event: ${formatCommand(options, `webhooks test ${created.id}`)}`,
        ].join('\n')
        return { json: created, text: created.secret, note }
      },
    )
  webhooks
    .command('show')
    .description('Show a webhook without its secret.')
    .argument('<id>', 'ID of the webhook')
    .examples(`webhooks show ${ID}`)
    .runWithService('read', 'show the webhook', async (client, _, [id = '']) => {
      const webhook = await client.webhook(id)
      return { json: webhook, text: describe(webhook) }
    })
  addFieldOptions(
    webhooks
      .command('update')
      .description('Change a webhook. What no option names stays as it is.')
      .argument('<id>', 'ID of the webhook')
      .option('--receiver <url>', 'where events are sent', parseUrl),
  )
    .option('--enable', 'send events, also if the service has disabled it')
    .option('--disable', 'send no events')
    .examples(`webhooks update ${ID} --agents all`, `webhooks update ${ID} --enable`)
    .runWithService<FieldOptions & { enable?: true; disable?: true }>(
      'manage',
      'change the webhook',
      async (client, options, [id = '']) => {
        const { enable, disable } = options
        if (enable && disable) throw new UserError('--enable cannot be combined with --disable.')
        const enabled = (enable || disable) && { enabled: enable === true }
        const changes = { ...toFields(options), ...enabled }
        if (Object.keys(changes).length === 0)
          throw new UserError('Nothing to change: specify an option such as --types or --enable.')
        const webhook = await client.updateWebhook(id, changes)
        return { json: webhook, text: describe(webhook) }
      },
    )
  webhooks
    .command('delete')
    .description('Delete a webhook and its secrets.')
    .argument('<id>', 'ID of the webhook')
    .examples(`webhooks delete ${ID}`)
    .runWithService('manage', 'delete the webhook', async (client, _, [id = '']) => {
      await client.deleteWebhook(id)
      return { json: { id, deleted: true }, text: `Deleted webhook ${id}.` }
    })
  addDeliveriesCommands(webhooks)
}

function statusOf({ enabled, disabledReason, failingSince }: Webhook): string {
  if (!enabled) return disabledReason ? `disabled (${disabledReason})` : 'disabled'
  return failingSince ? `failing since ${relativeTime(failingSince)}` : 'enabled'
}

type FieldOptions = {
  receiver?: string
  types?: string[]
  agents?: string[]
  tenants?: string[]
  sources?: string[]
  allowedHosts?: string[]
}

const addFieldOptions = (command: CliCommand): CliCommand =>
  command
    .option('--types <list>', 'types of events, comma-separated; default: those of executions', parseList)
    .option('--agents <list>', 'slugs or IDs of the only agents, or all', (text) =>
      text === 'all' ? ['all'] : parseAgents(text),
    )
    .option('--tenants <list>', 'the only tenants, or all', parseList)
    .option(
      '--sources <list>',
      'the only sources of executions, or all; BATCH has the events of batches',
      parseList,
    )
    .option(
      '--allowed-hosts <list>',
      'hosts that may have a private address or use plain HTTP, such as localhost:8080, or none',
      parseList,
    )

/** `all` and `none` remove a restriction. The service checks the values. */
function toFields({ receiver, types, allowedHosts, ...selected }: FieldOptions): WebhookChanges {
  const fields = {
    url: receiver,
    types,
    ...Object.fromEntries(
      (['agents', 'tenants', 'sources'] as const).map((name) => {
        const list = selected[name]
        return [name, list?.join() === 'all' ? null : list]
      }),
    ),
    allowedHosts: allowedHosts?.join() === 'none' ? [] : allowedHosts,
  }
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given) as WebhookChanges
}

const describe = (webhook: Webhook): string =>
  labelled(
    [
      ['id', webhook.id],
      ['url', webhook.url],
      ['status', statusOf(webhook)],
      ['types', webhook.types.join(', ')],
      ['agents', webhook.agents?.join(', ') ?? 'all'],
      ['tenants', webhook.tenants?.join(', ') ?? 'all'],
      ['sources', webhook.sources?.join(', ') ?? 'all'],
      ['allowed hosts', webhook.allowedHosts.join(', ') || 'none'],
      ['created', webhook.createdAt],
    ],
    15,
  )
