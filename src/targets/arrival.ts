// Objects that are created together are observed one by one, in any order.

/** How long an object must be missing before that is reported, or anything is deleted because of it. */
export const ARRIVAL_MS = 3000;
