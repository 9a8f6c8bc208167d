import { useState } from 'preact/hooks'
import type { AgentRecord } from '../../lib/contract/records/agent-record.ts'
import type { TrialRecord } from '../../lib/contract/records/trial-record.ts'
import { describeGate, findReasons } from '../../lib/contract/trial-outcome.ts'
import type { ApiError } from '../api/api-error.ts'
import { requestJson, send } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { announce } from '../components/copy-button.tsx'
import { Card, Facts } from '../components/data.tsx'
import { ConfirmDialog } from '../components/dialog.tsx'
import { formatCost, formatCount, formatCountOf, shortId } from '../components/format.ts'
import { ErrorBox, NeedsScope, Page, Spinner } from '../components/page.tsx'
import { AgentLink, Time, VersionLink } from '../components/values.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { navigate, toHref, toPath } from '../state/location.ts'
import { useScope } from '../state/session.ts'
import { type Release, readRelease } from './release.ts'
import { ReportDialog } from './report-dialog.tsx'
import { TrialItems } from './trial-items.tsx'
import { TrialMeasures } from './trial-measures.tsx'
import { TrialBadge, VerdictBar, VerdictCounts } from './verdict-bar.tsx'
import { endedOf, parseVerdict, withoutNames } from './verdicts.ts'

const trialPath = (id: string, rest = ''): string => `/v1/trials/${encodeURIComponent(id)}${rest}`

type Props = { trialId: string; query: URLSearchParams }

/** One trial. The verdict whose runs are shown is in the URL. */
export function TrialPage({ trialId, query }: Props) {
  const { data, error, isLive, reload, setData } = useResource(
    trialId,
    (signal) => requestJson<TrialRecord>(trialPath(trialId), { signal }),
    { everyMs: (trial) => (trial && trial.status !== 'ENDED' ? 3_000 : null) },
  )
  // Of the version that is current now: it can have changed since the trial was started.
  const release = useResource(`${data?.documentId}`, async (signal) =>
    data ? await readRelease(data.documentId, signal) : null,
  )
  // Together, so that nothing moves when the gate is known.
  const isReady = data !== null && !release.isLoading
  return (
    <Page
      title={`Trial ${shortId(trialId)}`}
      parent={<a href={toHref('/trials', { agent: release.data?.agent.slug })}>Trials</a>}
      detail={data && <TrialBadge trial={data} />}
      actions={isReady && <Actions trial={data} release={release.data} onChange={setData} />}
    >
      <NeedsScope scope="read">
        {error && !data && <ErrorBox error={error} onRetry={reload} />}
        {!isReady && !error && <Spinner label="Loading the trial…" />}
        {!isLive && <p class="muted">Updates are interrupted: the service does not respond. Trying again…</p>}
        {isReady && (
          <div class="stack">
            <Verdicts trial={data} query={query} />
            <div class="grid">
              <GateCard trial={data} release={release} />
              <Settings trial={data} agent={release.data?.agent ?? null} />
            </div>
            {data.sums && <TrialMeasures sums={data.sums} />}
            <TrialItems trial={data} verdict={parseVerdict(query.get('verdict'))} />
          </div>
        )}
      </NeedsScope>
    </Page>
  )
}

function Verdicts({ trial, query }: { trial: TrialRecord; query: URLSearchParams }) {
  const { id, lines, verdicts, status, error } = trial
  const ended = endedOf(trial)
  const judged = Object.values(verdicts).reduce((sum, count) => sum + count, 0)
  return (
    <Card title="Verdicts" class="stack">
      {status !== 'ENDED' && (
        <div>
          <progress value={ended} max={lines} aria-label="Runs that have ended" />
          <p>
            {formatCount(ended)} of {formatCountOf(lines, 'run')} ended.
          </p>
        </div>
      )}
      <VerdictBar verdicts={verdicts} open={lines - judged} />
      <VerdictCounts
        verdicts={verdicts}
        lines={lines}
        chosen={parseVerdict(query.get('verdict'))}
        hrefOf={(verdict) => toHref(toPath('trials', id), { verdict })}
      />
      {error && (
        <p class="field-error">
          Not all runs were started: <VisibleText text={error.message} />
        </p>
      )}
    </Card>
  )
}

type GateProps = {
  trial: TrialRecord
  release: { data: Release | null; error: ApiError | null; isLoading: boolean; reload: () => void }
}

/** Whether the version may become current, and why not. */
function GateCard({ trial, release }: GateProps) {
  const { data, error, isLoading, reload } = release
  if (error)
    return (
      <Card title="Gate">
        <ErrorBox error={error} onRetry={reload} />
      </Card>
    )
  if (!data)
    return (
      <Card title="Gate">
        <p class="muted">{isLoading ? 'Loading what the current version asks for…' : 'The agent is gone.'}</p>
      </Card>
    )
  const { gate } = data
  const hasEnded = trial.status === 'ENDED'
  const reasons = hasEnded ? findReasons(trial, gate) : []
  // As the service decides about a promotion, and `agents trial` exits.
  const isMet = findReasons(trial, gate ?? {}).length === 0
  const [summary] = describeGate({ gate, unmet: reasons }).split('\n')
  return (
    <Card title="Gate" class="stack">
      <p>
        {!hasEnded ? (
          <span class="badge">Judged when the trial has ended</span>
        ) : isMet ? (
          <span class={`badge ${reasons.length > 0 ? '' : 'badge-success'}`}>{gate ? 'Met' : 'No gate'}</span>
        ) : (
          <span class="badge badge-error">{gate ? 'Not met' : 'Not accepted'}</span>
        )}
      </p>
      {hasEnded && <p>{summary}</p>}
      {reasons.length > 0 && (
        <ul class="gate-reasons">
          {reasons.map((reason) => (
            <li key={reason}>{withoutNames(reason)}</li>
          ))}
        </ul>
      )}
      <p class="muted">
        {gate
          ? 'The document of the current version says what a trial has to meet before another version replaces it.'
          : 'Any version may replace it.'}
      </p>
    </Card>
  )
}

function Settings({ trial, agent }: { trial: TrialRecord; agent: AgentRecord | null }) {
  const { documentId, versionId, models, steps, tools, tenantId, feedback, ignore } = trial
  const live = Object.entries(tools)
    .filter(([, source]) => source === 'live')
    .map(([name]) => (name === 'default' ? 'all others' : name))
  return (
    <Card title="What was tried">
      <Facts
        facts={{
          // Not by the list of all agents, which arrives later and would move the rest.
          Agent: agent ? (
            <a href={toHref(toPath('agents', agent.slug))}>
              <VisibleText text={agent.title} />
            </a>
          ) : (
            <AgentLink agentId={documentId} />
          ),
          Version: <VersionLink agent={agent?.slug ?? documentId} versionId={versionId} />,
          Originals: `${formatCountOf(trial.lines, 'run')}${trial.selectionCut ? ', of the newest 5,000' : ''}`,
          From: trial.from !== null && <Time value={trial.from} />,
          To: trial.to !== null && <Time value={trial.to} />,
          Tenant: tenantId !== null && <VisibleText text={tenantId} />,
          Feedback:
            feedback !== null && (feedback === 'corrected' ? 'Only corrected runs' : 'Only rated runs'),
          Models: models === 'live' ? 'Live' : 'Recorded',
          Tools:
            live.length === 0 ? 'Recorded' : <VisibleText text={`Recorded, and live: ${live.join(', ')}`} />,
          Steps: steps === 'live' && 'Live',
          'Not compared': ignore.length > 0 && <VisibleText text={ignore.join(', ')} />,
          Cost:
            trial.maxTrialCostUsd === null
              ? formatCost(trial.costUsd)
              : `${formatCost(trial.costUsd)} of at most ${formatCost(trial.maxTrialCostUsd)}`,
          Started: <Time value={trial.createdAt} />,
          Ended: trial.endedAt !== null && <Time value={trial.endedAt} />,
        }}
      />
    </Card>
  )
}

type ActionsProps = {
  trial: TrialRecord
  release: Release | null
  onChange: (trial: TrialRecord) => void
}

function Actions({ trial, release, onChange }: ActionsProps) {
  const mayManage = useScope('manage')
  const [opened, setOpened] = useState<'report' | 'cancel' | 'deletion' | null>(null)
  const close = () => setOpened(null)
  const { id, status, versionId } = trial
  const hasEnded = status === 'ENDED'

  async function cancel() {
    const changed = await requestJson<Partial<TrialRecord>>(trialPath(id, '/cancel'), { method: 'POST' })
    onChange({ ...trial, ...changed })
    announce('The trial is being cancelled.')
    close()
  }

  async function deleteTrial() {
    await send(trialPath(id), { method: 'DELETE' })
    announce('The trial is deleted.')
    navigate(toHref('/trials', { agent: release?.agent.slug }), { replace: true })
  }

  return (
    <>
      {mayManage && hasEnded && release && release.agent.currentVersionId !== versionId && (
        <a
          class="button primary"
          href={toHref(toPath('agents', release.agent.slug, 'versions', versionId), { trial: id })}
        >
          Promote this version
        </a>
      )}
      {release && (
        <button type="button" disabled={!hasEnded} onClick={() => setOpened('report')}>
          Report…
        </button>
      )}
      {mayManage && !hasEnded && (
        <button
          type="button"
          class="danger"
          disabled={status === 'CANCELLING'}
          onClick={() => setOpened('cancel')}
        >
          Cancel trial…
        </button>
      )}
      {mayManage && hasEnded && (
        <button type="button" class="danger" onClick={() => setOpened('deletion')}>
          Delete…
        </button>
      )}
      {opened === 'report' && release && <ReportDialog trial={trial} release={release} onClose={close} />}
      {opened === 'cancel' && (
        <ConfirmDialog
          title="Cancel this trial?"
          label="Cancel trial"
          keepLabel="Keep running"
          action={cancel}
          onClose={close}
        >
          <p>
            No further run is started, and those in progress are cancelled. What has ended stays, but no gate
            accepts a cancelled trial. This cannot be undone: start another one.
          </p>
        </ConfirmDialog>
      )}
      {opened === 'deletion' && (
        <ConfirmDialog
          title="Delete this trial?"
          label="Delete trial"
          keepLabel="Keep trial"
          action={deleteTrial}
          onClose={close}
        >
          <p>
            The trial and its runs are deleted; the originals stay. This cannot be undone, and a version can
            no longer be promoted with it.
          </p>
        </ConfirmDialog>
      )}
    </>
  )
}
