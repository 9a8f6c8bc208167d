import './agent.css'
import '../compare/compare.css'
import { useMemo, useState } from 'preact/hooks'
import { type ComparedLine, compareVersions } from '../../lib/contract/compare-versions.ts'
import type { VersionDetails } from '../../lib/contract/records/agent.ts'
import { getVersion } from '../api/agents.ts'
import { useResource } from '../api/use-resource.ts'
import { Sides } from '../compare/difference-list.tsx'
import { Button } from '../components/button.tsx'
import { AgentPath, Loaded } from '../components/detail-page.tsx'
import { formatCount } from '../components/format.ts'
import { JsonView } from '../components/json-view.tsx'
import { Card, Page } from '../components/page.tsx'
import { Time, VersionLink } from '../components/values.tsx'
import { say, TextLink, VisibleText } from '../components/visible-text.tsx'
import { toHref, toPath } from '../state/location.ts'

export function ComparePage({ agent, query }: { agent: string; query: URLSearchParams }) {
  const [before, after] = [query.get('before') ?? '', query.get('after') ?? '']
  const versions = useResource(`${agent} ${before} ${after}`, (signal) =>
    Promise.all([getVersion(agent, before, signal), getVersion(agent, after, signal)]),
  )
  return (
    <Page
      title="Compare versions"
      parent={<AgentPath agent={agent} />}
      actions={
        <TextLink
          class="button"
          href={toHref(toPath('agents', agent, 'compare'), { before: after, after: before })}
          text="Swap"
        />
      }
    >
      <Loaded of={versions} label="Loading the versions…">
        {([first, second]) => <Comparison before={first} after={second} />}
      </Loaded>
    </Page>
  )
}

function Comparison({ before, after }: { before: VersionDetails; after: VersionDetails }) {
  const { changes, instructions } = useMemo(() => compareVersions(before, after), [before, after])
  return (
    <div class="stack">
      <div class="grid">
        <VersionCard title="Before" version={before} />
        <VersionCard title="After" version={after} />
      </div>
      {changes.length === 0 && instructions.length === 0 && <p class="empty">The versions do not differ.</p>}
      {changes.length > 0 && (
        <Card title="Document" class="stack">
          <ul class="stack plain-list changes">
            {changes.map((change) => (
              <li key={change.path}>
                <h3>
                  <VisibleText text={change.path} class="mono" />
                </h3>
                <Sides
                  names={['Before', 'After']}
                  before={shownValue(change.before, `${change.path} before`)}
                  after={shownValue(change.after, `${change.path} after`)}
                />
              </li>
            ))}
          </ul>
        </Card>
      )}
      {instructions.length > 0 && (
        <Card title="Instructions">
          <LineDiff lines={instructions} />
        </Card>
      )}
    </div>
  )
}

const VersionCard = ({ title, version }: { title: string; version: VersionDetails }) => (
  <section class="card" aria-label={title}>
    <h2>
      {title}: <VersionLink agent={version.documentId} versionId={version.id} />
    </h2>
    <p class="muted">
      {version.status === 'DRAFT' ? 'Draft' : 'Published'}, <Time value={version.createdAt} />
      {version.message && say`: ${version.message}`}
    </p>
  </section>
)

const shownValue = (value: unknown, label: string) =>
  value === undefined ? undefined : <JsonView value={value} label={label} />

/** Adjacent lines. `start`: the index of the first. `isFolded`: none differs, nor is near one that does. */
type Stretch = { start: number; lines: ComparedLine[]; isFolded: boolean }

/** Unchanged lines that are shown around a difference. */
const CONTEXT = 3

/** Splits compared lines into parts to show, and parts of several lines to fold. */
export function foldLines(lines: ComparedLine[]): Stretch[] {
  const isNear = lines.map(() => false)
  for (const [index, { kind }] of lines.entries())
    if (kind !== 'same') isNear.fill(true, Math.max(index - CONTEXT, 0), index + CONTEXT + 1)
  const parts: Stretch[] = []
  for (const [index, line] of lines.entries()) {
    const isFolded = !isNear[index]
    const last = parts.at(-1)
    if (last?.isFolded === isFolded) last.lines.push(line)
    else parts.push({ start: index, lines: [line], isFolded })
  }
  // One line takes no more room than the button that would show it.
  return parts.map((part) => (part.lines.length === 1 ? { ...part, isFolded: false } : part))
}

const WORDS = { same: '', added: 'Added: ', removed: 'Removed: ' }
const SIGNS = { same: ' ', added: '+', removed: '−' }

const LineDiff = ({ lines }: { lines: ComparedLine[] }) => (
  <div class="line-diff long-text mono">
    {foldLines(lines).map((part) => (
      <DiffPart key={part.start} part={part} />
    ))}
  </div>
)

function DiffPart({ part: { lines, isFolded } }: { part: Stretch }) {
  const [isOpen, setIsOpen] = useState(!isFolded)
  if (!isOpen)
    return (
      <Button
        label={`Show ${formatCount(lines.length)} unchanged lines`}
        class="link"
        onClick={() => setIsOpen(true)}
      />
    )
  return (
    <>
      {lines.map(({ kind, text }, index) => (
        <div key={index} class={`diff-${kind}`}>
          <span class="diff-sign" aria-hidden="true">
            {SIGNS[kind]}
          </span>
          <span>
            <span class="visually-hidden">{WORDS[kind]}</span>
            <VisibleText text={text} />
          </span>
        </div>
      ))}
    </>
  )
}
