import { isUuid, timeOfId } from '../../lib/core/ids.ts'
import { requestPage } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { Loaded } from '../components/detail-page.tsx'
import { closeShown, InfoDialog } from '../components/dialog.tsx'
import { ItemTable } from '../components/item-table.tsx'
import { Facts } from '../components/page.tsx'
import { Time } from '../components/values.tsx'
import { Text, VisibleText } from '../components/visible-text.tsx'
import {
  ACTOR_LABELS,
  auditHref,
  changesOf,
  type Entry,
  INTERFACE_LABELS,
  isUncertain,
  labelOf,
  nameOf,
} from './audit.ts'
import { ActorName, ResultBadge, Target } from './entry-values.tsx'

type Props = {
  entryId: string
  entry: Entry | undefined
}

export function EntryDialog({ entryId, entry: listed }: Props) {
  const found = useResource(`${entryId} ${listed === undefined}`, async (signal) => ({
    entry: listed ?? (await findEntry(entryId, signal)),
  }))
  return (
    <InfoDialog title="Change" onClose={() => closeShown('/audit', 'entry', entryId)}>
      <Loaded of={listed ? { ...found, data: { entry: listed } } : found} label="Loading the change…">
        {({ entry }) =>
          entry ? (
            <Details entry={entry} />
          ) : (
            <p>The log has no such change. It may have expired, or it belongs to another organization.</p>
          )
        }
      </Loaded>
    </InfoDialog>
  )
}

/** A list of the millisecond in which it was made. @throws ApiError */
async function findEntry(id: string, signal: AbortSignal): Promise<Entry | null> {
  if (!isUuid(id)) return null
  const [from, to] = [timeOfId(id), timeOfId(id) + 1].map((time) => new Date(time).toISOString())
  const { items } = await requestPage<Entry>('/v1/audit', { query: { from, to, limit: 100 }, signal })
  return items.find((each) => each.id === id.toLowerCase()) ?? null
}

function Details({ entry }: { entry: Entry }) {
  const { id, at, actor, source, action, target } = entry
  return (
    <>
      <Text as="h3" text={labelOf(action)} />
      <div class="toolbar">
        <ResultBadge entry={entry} />
        <Text text={noteOf(entry)} />
      </div>
      <Facts
        facts={{
          Time: <Time value={at} />,
          What: <Target entry={entry} />,
          By: (
            <>
              <ActorName actor={actor} /> <span class="muted">{ACTOR_LABELS[actor.kind] ?? actor.kind}</span>
            </>
          ),
          Through: INTERFACE_LABELS[source.interface] ?? source.interface,
          Address: source.ip !== undefined && <VisibleText text={source.ip} class="mono" />,
          Machine: source.host,
          'User agent': source.userAgent,
          Subject: actor.subject,
          'ID of who made it': nameOf(actor) !== actor.id && <VisibleText text={actor.id} class="mono" />,
          'ID of what was changed': target.id !== null && <VisibleText text={target.id} class="mono" />,
          Action: <VisibleText text={action} class="mono" />,
          'ID of this change': <VisibleText text={id} class="mono" />,
        }}
      />
      <Changes entry={entry} />
      <p class="toolbar">
        <a href={auditHref({ actor: actor.subject ?? actor.id })}>Everything by the same</a>
        {target.id !== null && <a href={auditHref({ target: target.id })}>Everything about this</a>}
      </p>
    </>
  )
}

function noteOf(entry: Entry): string | null {
  if (entry.result === 'STARTED')
    return 'It was recorded before it was made. What became of it is not stored, or not yet: it may have been made.'
  return entry.result === 'FAILED' && isUncertain(entry) ? 'A part of it may have been made.' : null
}

function Changes({ entry }: { entry: Entry }) {
  const changes = changesOf(entry)
  if (changes.length === 0) return <p class="muted">Nothing but the action itself is recorded.</p>
  return (
    <ItemTable
      caption="What was changed"
      items={changes}
      keyOf={({ name }) => name}
      columns={{
        Field: ({ name }) => <VisibleText text={name} class="mono" />,
        Before: changes.some(({ from }) => from !== undefined) && { text: ({ from }) => from },
        Requested: { text: ({ to }) => to },
      }}
    />
  )
}
