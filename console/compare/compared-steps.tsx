import { useMemo, useState } from 'preact/hooks'
import type { ComparisonRecord } from '../../lib/contract/records/comparison.ts'
import { Button } from '../components/button.tsx'
import { formatCount, formatCountOf } from '../components/format.ts'
import { Text, VisibleText } from '../components/visible-text.tsx'
import { toHref, toPath } from '../state/location.ts'
import { type ComparedStep, groupSteps, keyOfStep, titleOfStep } from './comparison.ts'
import { DifferenceList, SideHeads } from './difference-list.tsx'

const FIRST = 'first-difference'

/** Groups that are rendered at a time. */
const PORTION = 50

type Props = Pick<ComparisonRecord, 'left' | 'right' | 'steps' | 'hasMoreSteps'>

export function ComparedSteps({ left, right, steps, hasMoreSteps }: Props) {
  const [shown, setShown] = useState(PORTION)
  const groups = useMemo(() => groupSteps(steps), [steps])
  const differing = steps.filter(({ isSame }) => !isSame).length
  if (steps.length === 0) return <p class="muted">Neither run has a step.</p>
  return (
    <>
      <div class="toolbar">
        <p>
          {differing === 0
            ? `The same in both runs: ${formatCountOf(steps.length, 'step')}.`
            : `${formatCount(differing)} of ${formatCountOf(steps.length, 'step')} differ${differing === 1 ? 's' : ''}.`}
          {hasMoreSteps && ' There are more steps, which were not compared.'}
        </p>
        {differing > 0 && <Button label="Go to the first difference" onClick={showFirst} />}
      </div>
      {differing > 0 && <SideHeads />}
      <ol class="plain-list lines">
        {groups
          .slice(0, shown)
          .map((group) =>
            group.kind === 'same' ? (
              <SameSteps key={keyOfStep(group.steps[0] as ComparedStep)} steps={group.steps} />
            ) : (
              <DifferingStep
                key={keyOfStep(group.step)}
                step={group.step}
                isFirst={group.isFirst}
                hrefs={{ a: hrefOf(left.id, group.step.number), b: hrefOf(right.id, group.step.otherNumber) }}
              />
            ),
          )}
      </ol>
      {groups.length > shown && (
        <Button
          label={`Show ${formatCount(Math.min(PORTION, groups.length - shown))} more`}
          onClick={() => setShown(shown + PORTION)}
        />
      )}
    </>
  )
}

function showFirst() {
  const element = document.getElementById(FIRST)
  element?.scrollIntoView({ block: 'start' })
  element?.focus({ preventScroll: true })
}

const hrefOf = (executionId: string, step: number | null) =>
  step === null ? null : toHref(toPath('runs', executionId), { step })

type StepProps = { step: ComparedStep; isFirst: boolean; hrefs: { a: string | null; b: string | null } }

function DifferingStep({ step, isFirst, hrefs }: StepProps) {
  const title = titleOfStep(step)
  return (
    <li class="compared-step" id={isFirst ? FIRST : undefined} tabIndex={isFirst ? -1 : undefined}>
      <div class="actions">
        <Text as="h3" text={title} />
        {isFirst && <span class="badge badge-warning">First difference</span>}
        {step.number === null && <span class="badge">Only in B</span>}
        {step.otherNumber === null && <span class="badge">Only in A</span>}
        <span class="actions">
          {hrefs.a && (
            <a href={hrefs.a}>
              Open in A
              <VisibleText text={`: ${title}`} class="visually-hidden" />
            </a>
          )}
          {hrefs.b && (
            <a href={hrefs.b}>
              Open in B
              <VisibleText text={`: ${title}`} class="visually-hidden" />
            </a>
          )}
        </span>
      </div>
      <DifferenceList differences={step.differences} isCut={step.isCut} />
    </li>
  )
}

const SameSteps = ({ steps }: { steps: ComparedStep[] }) => (
  <li class="compared-step">
    <details>
      <summary>{formatCountOf(steps.length, 'step')} without a difference</summary>
      <ul>
        {steps.map((step) => (
          <Text as="li" key={keyOfStep(step)} text={titleOfStep(step)} />
        ))}
      </ul>
    </details>
  </li>
)
