import type { Model } from '../../core/model.ts'
import { costOf, type Price } from './price.ts'

/** The model, adding the cost to the usage of its responses if it has a price. */
export function withCost(model: Model, price: Price | null): Model {
  if (!price) return model
  return {
    ...model,
    async respond(request) {
      const response = await model.respond(request)
      const { usage } = response
      return { ...response, usage: { ...usage, costUsd: costOf(price, usage) } }
    },
  }
}
