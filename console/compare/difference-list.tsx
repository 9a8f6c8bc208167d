import type { ComponentChildren } from 'preact'
import { formatCountOf } from '../components/format.ts'
import { printJson } from '../components/json-tree.ts'
import { VisibleText } from '../components/visible-text.tsx'
import type { Differences } from './comparison.ts'
import { WordDiff } from './word-diff.tsx'

type Difference = Differences['differences'][number]

/** What the page calls the options of a run, by their JSON Pointers. */
const OPTIONS: Record<string, string> = {
  '/options/maxAgentSteps': 'Steps at most',
  '/options/model': 'Model that was asked for',
  '/options/useDynamicLearning': 'Dynamic learning',
  '/options/maxTokens': 'Tokens at most',
  '/options/maxCostUsd': 'US dollars at most',
}

/** Which side is which, once for all differences below it. Readers of single ones have the names beside them. */
export const SideHeads = () => (
  <div class="sides side-heads" aria-hidden="true">
    <span>A</span>
    <span>B</span>
  </div>
)

/** @param props.same what it says if there is none */
export const DifferenceList = ({ differences, isCut, same }: Differences & { same?: string }) => (
  <>
    {differences.length === 0 && <p class="muted">{same}</p>}
    <ul class="plain-list lines differences">
      {differences.map((difference) => (
        <li key={difference.path}>
          {difference.path !== '' && <Path path={difference.path} />}
          <Sides
            names={['A', 'B']}
            before={shownValue(difference, 'left', 'removed')}
            after={shownValue(difference, 'right', 'added')}
          />
        </li>
      ))}
    </ul>
    {isCut && (
      <p class="muted">There are more differences than {formatCountOf(differences.length, 'difference')}.</p>
    )}
  </>
)

const Path = ({ path }: { path: string }) => {
  const option = Object.hasOwn(OPTIONS, path) ? OPTIONS[path] : undefined
  return option ? <strong>{option}</strong> : <VisibleText text={path} class="mono" />
}

type SidesProps = { names: [string, string]; before: ComponentChildren; after: ComponentChildren }

/** Both sides of a difference, of which one may be undefined. Narrow windows show them one below the other. */
export const Sides = ({ names, before, after }: SidesProps) => (
  <div class="sides">
    {[before, after].map((value, index) => (
      <div key={index} class={`side side-${'ab'[index]}`}>
        <span class="side-name">{names[index]}</span>
        {value ?? <span class="muted">absent</span>}
      </div>
    ))}
  </div>
)

/** Values have at most 200 characters: the service cuts longer ones. What only this side has is marked. */
function shownValue(difference: Difference, member: 'left' | 'right', kind: 'removed' | 'added') {
  const [left, right] = [difference.left, difference.right]
  if (difference[member] === undefined) return undefined
  if (left === undefined || right === undefined)
    return <VisibleText text={printJson(difference[member])} class="mono" />
  return <WordDiff before={printJson(left)} after={printJson(right)} of={kind} />
}
