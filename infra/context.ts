import type { Node } from 'constructs'

/**
 * A switch of the CDK context, on unless it is turned off. `cdk.json` gives a boolean, `--context` a text.
 * @throws an Error that names the switch for any other value
 */
export function isOn(node: Node, name: string): boolean {
  const value = String(node.tryGetContext(name) ?? true)
  if (value !== 'true' && value !== 'false') {
    throw new Error(`The context value ${name} is "${value}"; it must be true or false.`)
  }
  return value === 'true'
}

/**
 * A whole number from 1 up of the CDK context, or `otherwise` when it is absent.
 * @throws an Error that names the value for any other
 */
export function wholeNumber(node: Node, name: string, otherwise: number): number {
  const value = String(node.tryGetContext(name) ?? otherwise)
  if (/^[1-9][0-9]{0,6}$/.test(value)) return Number(value)
  throw new Error(`The context value ${name} is "${value}"; it must be a whole number from 1 up.`)
}
