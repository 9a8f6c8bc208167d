import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import type { TrialRecord } from '../../lib/contract/records/trial.ts'
import { post } from '../api/request.ts'
import { useRecord, useResource } from '../api/use-resource.ts'
import { DetailPage } from '../components/detail-page.tsx'
import { ConfirmButton, DeleteButton, DialogButton } from '../components/form-dialog.tsx'
import { formatCost, formatCount, formatCountOf, shortId } from '../components/format.ts'
import { Card, Facts } from '../components/page.tsx'
import { AgentLink, Time, VersionLink } from '../components/values.tsx'
import { TextLink, VisibleText } from '../components/visible-text.tsx'
import { Agreement } from '../scores/scores.tsx'
import { TrialScores } from '../scores/trial-scores.tsx'
import { navigate, toHref, toPath } from '../state/location.ts'
import { useScope } from '../state/session.ts'
import { type Release, readRelease } from '../versions/release.tsx'
import { FieldSummary } from './field-summary.tsx'
import { GateCard } from './gate-card.tsx'
import { ReportDialog } from './report-dialog.tsx'
import { TrialItems } from './trial-items.tsx'
import { TrialMeasures } from './trial-measures.tsx'
import { TrialBadge, VerdictBar, VerdictCounts } from './verdict-bar.tsx'
import { endedOf, parseVerdict } from './verdicts.ts'

const trialPath = (id: string, rest = ''): string => `/v1/trials/${encodeURIComponent(id)}${rest}`

export function TrialPage({ trialId, query }: { trialId: string; query: URLSearchParams }) {
  const trial = useRecord<TrialRecord>(trialPath(trialId), {
    everyMs: (read) => (read && read.status !== 'ENDED' ? 3_000 : null),
  })
  const { data, setData } = trial
  // Of the version that is current now: it can have changed since the trial was started.
  const release = useResource(`${data?.documentId}`, async (signal) =>
    data ? await readRelease(data.documentId, signal) : null,
  )
  return (
    <DetailPage
      // Together, so that nothing moves when the gate is known.
      of={{ ...trial, data: release.isLoading ? null : data }}
      label="Loading the trial…"
      title={`Trial ${shortId(trialId)}`}
      parent={<a href={toHref('/trials', { agent: release.data?.agent.slug })}>Trials</a>}
      scope="read"
      detail={(shown) => <TrialBadge trial={shown} />}
      actions={(shown) => <Actions trial={shown} release={release.data} onChange={setData} />}
    >
      {(shown) => (
        <>
          {!trial.isLive && (
            <p class="muted">Updates are interrupted: the service does not respond. Trying again…</p>
          )}
          <Verdicts trial={shown} query={query} />
          <div class="grid">
            <GateCard trial={shown} release={release} />
            <Settings trial={shown} agent={release.data?.agent ?? null} />
          </div>
          {shown.sums && <TrialMeasures sums={shown.sums} />}
          {shown.sums?.scores && (
            <>
              <TrialScores trialId={shown.id} scores={shown.sums.scores} />
              <Agreement agent={shown.documentId} />
            </>
          )}
          {shown.status === 'ENDED' && <FieldSummary trial={shown} />}
          <TrialItems trial={shown} verdict={parseVerdict(query.get('verdict'))} />
        </>
      )}
    </DetailPage>
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
        {...{ verdicts, lines }}
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
            <TextLink href={toHref(toPath('agents', agent.slug))} text={agent.title} />
          ) : (
            <AgentLink agentId={documentId} />
          ),
          Version: <VersionLink agent={agent?.slug ?? documentId} versionId={versionId} />,
          Originals: `${formatCountOf(trial.lines, 'run')}${trial.selectionCut ? ', of the newest 5,000' : ''}`,
          From: trial.from && <Time value={trial.from} />,
          To: trial.to && <Time value={trial.to} />,
          Tenant: tenantId,
          Feedback:
            feedback !== null && (feedback === 'corrected' ? 'Only corrected runs' : 'Only rated runs'),
          Models: models === 'live' ? 'Live' : 'Recorded',
          Tools: live.length === 0 ? 'Recorded' : `Recorded, and live: ${live.join(', ')}`,
          Steps: steps === 'live' && 'Live',
          'Not compared': ignore.join(', ') || null,
          Cost:
            trial.maxTrialCostUsd === null
              ? formatCost(trial.costUsd)
              : `${formatCost(trial.costUsd)} of at most ${formatCost(trial.maxTrialCostUsd)}`,
          Started: <Time value={trial.createdAt} />,
          Ended: trial.endedAt && <Time value={trial.endedAt} />,
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
  const { id, status, versionId } = trial
  const hasEnded = status === 'ENDED'
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
        <DialogButton label="Report…" isDisabled={!hasEnded}>
          {(close) => <ReportDialog trial={trial} release={release} onClose={close} />}
        </DialogButton>
      )}
      <ConfirmButton
        label="Cancel trial…"
        class="danger"
        isOffered={mayManage && !hasEnded}
        isDisabled={status === 'CANCELLING'}
        asks={{ title: 'Cancel this trial?', yes: 'Cancel trial', no: 'Keep running' }}
        action={async () => onChange({ ...trial, ...(await post<TrialRecord>(trialPath(id, '/cancel'))) })}
        done="The trial is being cancelled."
        text="No further run is started, and those in progress are cancelled. What has ended stays, but no gate accepts a cancelled trial. This cannot be undone: start another one."
      />
      <DeleteButton
        noun="trial"
        path={trialPath(id)}
        isOffered={mayManage && hasEnded}
        onDone={() => navigate(toHref('/trials', { agent: release?.agent.slug }), { replace: true })}
        text="The trial and its runs are deleted; the originals stay. This cannot be undone, and a version can no longer be promoted with it."
      />
    </>
  )
}
