import type { ComponentChildren } from 'preact'
import type { UsageLimits } from '../../lib/core/usage-limits.ts'
import { remove } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { announce } from '../components/button.tsx'
import { Loaded } from '../components/detail-page.tsx'
import { ConfirmButton, DialogButton } from '../components/form-dialog.tsx'
import { formatCost, formatCount, formatDay, formatPercent } from '../components/format.ts'
import { ItemTable } from '../components/item-table.tsx'
import { Card } from '../components/page.tsx'
import { useMe, useScope } from '../state/session.ts'
import { type LimitsState, limitsPath, readLimits } from './limits.ts'
import { LimitsDialog, limitsForm } from './limits-dialog.tsx'

/** The limits of a tenant and what is left. Its children appear when its height is known, so that they do not move. */
export function LimitsCard({ tenantId, children }: { tenantId: string; children: ComponentChildren }) {
  const me = useMe()
  const boundTenant = me?.tenantId ?? null
  const mayChange = useScope('manage') && boundTenant === null
  const seen = useResource(`${boundTenant}`, async (signal) => ({
    limits: await readLimits(tenantId, boundTenant, signal),
  }))
  function finish(text: string) {
    announce(text)
    seen.reload()
  }
  return (
    <>
      <Card title="Limits" class="stack">
        <Loaded of={seen} label="Loading limits…">
          {({ limits }) =>
            limits === 'hidden' ? (
              <p class="muted">This token may not read the limits of this tenant.</p>
            ) : (
              <>
                {limits ? <Limits {...limits} /> : <p>This tenant has no limits.</p>}
                {mayChange && <Actions tenantId={tenantId} limits={limits?.limits ?? null} onDone={finish} />}
              </>
            )
          }
        </Loaded>
      </Card>
      {(seen.data || seen.error) && children}
    </>
  )
}

type ActionsProps = { tenantId: string; limits: UsageLimits | null; onDone: (text: string) => void }

const Actions = ({ tenantId, limits, onDone }: ActionsProps) => (
  <div class="actions">
    <DialogButton label={limits ? 'Change limits…' : 'Set limits…'} form={limitsForm(tenantId)}>
      {(close) => (
        <LimitsDialog
          {...{ tenantId, limits }}
          onSave={() => onDone('The limits are saved.')}
          onClose={close}
        />
      )}
    </DialogButton>
    <ConfirmButton
      label="Delete limits…"
      isOffered={limits !== null}
      class="danger"
      asks={{ title: 'Delete the limits of this tenant?', yes: 'Delete limits', no: 'Keep limits' }}
      action={async () => {
        await remove(limitsPath(tenantId))
        onDone('The limits are deleted.')
      }}
      text="Within a minute, nothing limits what its runs cost and how many there are."
    />
  </div>
)

function Limits({ limits, left }: LimitsState) {
  const { maxOpenExecutions, maxRunsPerMinute, maxCostUsd, warnAt, queueWhenFull, costCountedFrom } = limits
  const rows = [
    { name: 'Cost today', limit: maxCostUsd.day, left: left.costUsd.day, format: formatCost },
    { name: 'Cost this month', limit: maxCostUsd.month, left: left.costUsd.month, format: formatCost },
    { name: 'Open runs', limit: maxOpenExecutions, left: left.openExecutions, format: formatCount },
    { name: 'Runs per minute', limit: maxRunsPerMinute, left: null, format: formatCount },
  ].filter(({ limit }) => limit !== null)
  return (
    <>
      {rows.length > 0 && (
        <ItemTable
          caption="What is allowed, and what is left"
          items={rows}
          keyOf={({ name }) => name}
          columns={{
            Limit: ({ name }) => name,
            Allowed: { numeric: ({ limit, format }) => format(limit ?? 0) },
            Left: {
              numeric: ({ left: rest, format }) =>
                rest !== null && <span class={rest === 0 ? 'field-error' : undefined}>{format(rest)}</span>,
            },
          }}
        />
      )}
      <p class="muted">
        Days and months are those of UTC.{' '}
        {costCountedFrom != null && `Costs count from ${formatDay(Date.parse(costCountedFrom))} on. `}
        {warnAt !== null && `A warning is sent at ${formatPercent(warnAt)} of a cost limit. `}
        {maxOpenExecutions !== null &&
          (queueWhenFull
            ? 'At the limit of open runs, asynchronous runs wait for their turn.'
            : 'At the limit of open runs, further runs are refused.')}
      </p>
    </>
  )
}
