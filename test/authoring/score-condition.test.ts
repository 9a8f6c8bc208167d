import { expect, it } from 'vitest'
import { isCondition, isMet } from '../../authoring/cases/differences.ts'

it.each([
  ['>= 0.8', 0.8, true],
  ['>= 0.8', 0.79, false],
  ['>0.8', 0.8, false],
  ['> 0.8', 0.81, true],
  ['<= 0', 0, true],
  ['<1.0', 1, false],
  ['< 1', 0.99, true],
])('%s of %d is %s', (condition, score, expected) => {
  expect(isMet(condition, score)).toBe(expected)
})

it.each([
  '',
  '0.8',
  '= 0.8',
  '>= .8',
  '>= 1.01',
  '>= -0',
  '>= 0.8 ',
  '>=  0.8',
  '>= 0.8\n',
  '>= 0,8',
  '>= 1e-1',
])('refuses %j', (text) => {
  expect(isCondition(text)).toBe(false)
})
