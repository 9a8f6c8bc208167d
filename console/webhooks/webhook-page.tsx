import type { WebhookRecord } from '../../lib/contract/records/webhook.ts'
import { useRecord } from '../api/use-resource.ts'
import { DetailPage } from '../components/detail-page.tsx'
import { Card, Facts, NeedsScope, Page } from '../components/page.tsx'
import { AgentLink, Badge, Time } from '../components/values.tsx'
import { useScope } from '../state/session.ts'
import { Deliveries } from './deliveries.tsx'
import {
  DEFAULT_WEBHOOK,
  hostOf,
  labelOfEvent,
  SOURCE_LABELS,
  stateOf,
  type WebhookState,
  webhookPath,
} from './events.ts'
import { SecretDialog } from './secret-dialog.tsx'
import { RotateButton, WebhookActions } from './webhook-actions.tsx'

const BADGES = { enabled: 'success', failing: 'error', disabled: 'warning' } as const

export const StateBadge = ({ state: { kind, label, text } }: { state: WebhookState }) => (
  <Badge kind={BADGES[kind]} title={text}>
    {label}
  </Badge>
)

const PARENT = <a href="#/webhooks">Webhooks</a>

type Props = { webhookId: string; query: URLSearchParams }

export function WebhookPage({ webhookId, query }: Props) {
  if (webhookId === DEFAULT_WEBHOOK) return <DefaultPage query={query} />
  return <OneWebhook webhookId={webhookId} query={query} />
}

function OneWebhook({ webhookId, query }: Props) {
  const webhook = useRecord<WebhookRecord>(webhookPath(webhookId))
  const mayManage = useScope('manage')
  return (
    <DetailPage
      of={webhook}
      label="Loading the webhook…"
      title={webhook.data ? hostOf(webhook.data.url) : 'Webhook'}
      parent={PARENT}
      scope="read"
      detail={(data) => <StateBadge state={stateOf(data)} />}
      actions={(data) => mayManage && <WebhookActions webhook={data} onChange={webhook.setData} />}
      after={<SecretDialog />}
    >
      {(data) => (
        <>
          <Card title="Webhook">
            {stateOf(data).kind !== 'enabled' && <p>{stateOf(data).text}</p>}
            <WebhookFacts webhook={data} />
          </Card>
          <Deliveries webhookId={webhookId} url={data.url} query={query} onNews={webhook.reload} />
        </>
      )}
    </DetailPage>
  )
}

function WebhookFacts({ webhook }: { webhook: WebhookRecord }) {
  const { url, types, agents, tenants, sources, allowedHosts, failingSince, createdAt } = webhook
  return (
    <Facts
      facts={{
        URL: url,
        Events: types.map(labelOfEvent).join(', '),
        Agents: agents
          ? agents.map((agentId, index) => (
              <span key={agentId}>
                {index > 0 && ', '}
                <AgentLink agentId={agentId} />
              </span>
            ))
          : 'All',
        Tenants: tenants?.join(', ') ?? 'All, and none',
        'Started by': sources ? sources.map((source) => SOURCE_LABELS[source]).join(', ') : 'Everything',
        'Allowed hosts': allowedHosts.join(', ') || null,
        'Failing since': failingSince && <Time value={failingSince} />,
        Created: <Time value={createdAt} />,
      }}
    />
  )
}

function DefaultPage({ query }: { query: URLSearchParams }) {
  const mayManage = useScope('manage')
  return (
    <Page
      title="URLs that are given with runs"
      parent={PARENT}
      actions={mayManage && <RotateButton id={DEFAULT_WEBHOOK} />}
    >
      <NeedsScope scope="read">
        <div class="stack">
          <p class="muted">
            Where operators allow it, a run or a batch names a URL that is told of its events. They are signed
            with one secret of the organization.
          </p>
          <Deliveries webhookId={DEFAULT_WEBHOOK} url={null} query={query} onNews={() => undefined} />
        </div>
      </NeedsScope>
      <SecretDialog />
    </Page>
  )
}
