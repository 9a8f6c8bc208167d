import { expect, it } from 'vitest'
import { startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { checkBudgets } from './check-budgets.ts'

const scripted = await startScriptedEngine()
const RUNS = 1_000

it(`a budget holds in ${RUNS} runs with random usage and kills`, async () => {
  const outcomes = await checkBudgets(scripted, RUNS)
  expect(outcomes.get('BudgetExceeded')).toBeGreaterThan(RUNS / 4)
  expect(outcomes.get('SUCCESS')).toBeGreaterThan(0)
}, 1_800_000)
